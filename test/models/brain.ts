import { until } from '../helpers/until.ts';
import type { ModelServerRequest, Script, ScriptedTurn } from './script.ts';

/** What a scripted model is given for one turn, whichever API it came by. */
export interface Heard {
  /** What the user said first. */
  readonly query: string;
  readonly system: string;
  /** Names of the tools. */
  readonly tools: readonly string[];
  /** What came of the calls of its last turn, in their order, as text. */
  readonly results: readonly string[];
  /** How many turns it had before, in this conversation. */
  readonly turn: number;
  /** How often it was asked this before, also in vain. */
  readonly asked: number;
}

/** Decides what the model says. What it knows, it knows from what it heard. */
export type Thought = (heard: Heard) => ScriptedTurn;

/** One time that the model was asked. */
export interface Asking {
  readonly heard: Heard;
  /** Resolves when whoever asked does not wait any more, without an answer. */
  readonly abandoned: Promise<void>;
}

/** The mind of a scripted model: it knows by the words of the user what to do. Several may ask at one time. */
export class Brain {
  readonly #thoughts = new Map<string, Thought>();
  readonly #askings: Asking[] = [];

  /** Has it think this whenever somebody says exactly these words, with or without a context. */
  learn(query: string, thought: Thought): void {
    this.#thoughts.set(query, thought);
  }

  hear(said: Omit<Heard, 'asked'>, abandoned: Promise<void>): ScriptedTurn {
    const heard = { ...said, asked: this.#of(said.query).length };
    this.#askings.push({ heard, abandoned });
    const thought = this.#thoughts.get(heard.query);
    return thought?.(heard) ?? { status: 400, message: 'Nobody has taught it what to say to that.' };
  }

  /** Resolves as soon as it was asked this for the time of that number, from 0. */
  asked(query: string, number = 0): Promise<Asking> {
    return until(() => this.#of(query)[number], { what: `the model to be asked "${query}"` });
  }

  /** For a server on loopback that speaks the API whose requests are read in this way. */
  script(read: (body: any) => Omit<Heard, 'asked'>): Script {
    return (request) => this.hear(read(request.body), abandonment(request));
  }

  #of(query: string): Asking[] {
    return this.#askings.filter(({ heard }) => heard.query === query);
  }
}

function abandonment(request: ModelServerRequest): Promise<void> {
  return new Promise((resolve) => {
    void request.over.then(() => {
      if (request.gone) resolve();
    });
  });
}

/** A request to the Anthropic Messages API. */
export function heardByAnthropic({ system, tools = [], messages }: any): Omit<Heard, 'asked'> {
  const last = blocksOf(messages.at(-1).content).filter(({ type }) => type === 'tool_result');
  return {
    query: wishIn(textIn(messages[0].content)),
    system: textIn(system ?? []),
    tools: tools.map((tool: any) => tool.name),
    results: last.map(({ content }) => textIn(content)),
    turn: messages.filter(({ role }: any) => role === 'assistant').length,
  };
}

/** A request to `chat/completions`. */
export function heardByOpenai({ tools = [], messages }: any): Omit<Heard, 'asked'> {
  const lastOwn: number = messages.findLastIndex(({ role }: any) => role === 'assistant');
  const results = messages.slice(lastOwn + 1).filter(({ role }: any) => role === 'tool');
  const saidBy = (who: string): string =>
    textIn(messages.find(({ role }: any) => role === who)?.content ?? '');
  return {
    query: wishIn(saidBy('user')),
    system: saidBy('system'),
    tools: tools.map((tool: any) => tool.function.name),
    results: results.map(({ content }: any) => textIn(content)),
    turn: messages.filter(({ role }: any) => role === 'assistant').length,
  };
}

/** The parameters of `sampling/createMessage`. */
export function heardByHost({ systemPrompt = '', tools = [], messages }: any): Omit<Heard, 'asked'> {
  return { ...heardByAnthropic({ messages, tools }), system: systemPrompt };
}

function wishIn(words: string): string {
  return words.split('\n\n')[0]!;
}

function textIn(content: any): string {
  return blocksOf(content)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text as string)
    .join('\n');
}

function blocksOf(content: any): any[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [content];
}
