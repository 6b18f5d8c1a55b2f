import { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { estimateTokens } from '../shared/tokens.ts';
import { untilAborted } from '../shared/until-aborted.ts';
import type { LanguageDefinition } from '../config/index.ts';
import type { OfferedTool } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { Budget } from './budget.ts';
import { ToolCalls, outcomeFor } from './tool-calls.ts';
import { Consent, howToAllow } from './consent.ts';
import type { AskClient, Model, ModelReply, ModelMessage } from './model.ts';
import { RepeatedMistakes } from './repeated-mistakes.ts';
import { openingWords, systemPrompt } from './prompt.ts';
import { report } from './report.ts';
import { cutOff, noModelAnswer, modelRefusal, tooManySteps, tooManyTokens, tooSlow } from './stop-errors.ts';
import { TimeLimit } from '../shared/time-limit.ts';
import { toolSpecs, type ToolSpecs } from './tool-specs.ts';

export interface ConverseOptions {
  readonly server: string;
  readonly model: Model;
  /** Instructions for the model. */
  readonly instructions: string;
  /** The request, in natural language. */
  readonly query: string;
  /** Additional information that may help to understand the request. */
  readonly context?: string | undefined;
  readonly tools: readonly OfferedTool[];
  /** The current tools, because using one may add others. Default: they stay the same. */
  readonly listTools?: () => Promise<readonly OfferedTool[]>;
  readonly limits: Pick<LanguageDefinition, 'maxSteps' | 'maxTokens' | 'timeoutMs' | 'allowDestructive'>;
  /** Runs a tool of the server. Resolves with its CallToolResult, rejects with a ServerError or SwitchboardError. */
  readonly run: (tool: OfferedTool, args: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  readonly ask: AskClient;
  /** Whether the client supports forms. */
  readonly canElicit: boolean;
  /**
   * Subscribes to the server's requests for the client; each is reported with a promise that settles when it is
   * answered. Default: there are none.
   */
  readonly onQuestion?: (listener: (answered: Promise<unknown>) => void) => void;
  /** Reports to the client of the call what is being done. */
  readonly tell: (message: string) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Lets a model fulfil one request with the tools of a server. Resolves with the CallToolResult of `natural_language`,
 * even if it failed; rejects only if the signal aborts.
 */
export async function converse(options: ConverseOptions): Promise<JsonObject> {
  const { server, limits, signal } = options;
  const time = new TimeLimit(limits.timeoutMs);
  options.onQuestion?.((answered) => void time.hold(() => answered));
  const conversation = new Conversation(options, await toolSpecs(options.tools), time);
  try {
    const answer = await conversation.run();
    return conversation.report(answer);
  } catch (error) {
    if (signal.aborted) {
      throw new SwitchboardError('CANCELLED', `The request to server '${server}' was cancelled.`);
    }
    return conversation.report(
      conversation.said,
      time.expired ? tooSlow(server, limits.timeoutMs) : conversation.known(error),
    );
  } finally {
    time.close();
  }
}

/** The longest response of one turn, in tokens: enough to write a fairly long file. */
const LONGEST_ANSWER = 8192;

/** With less room for a response than this, in tokens, asking would be a waste. */
const SHORTEST_ANSWER = 50;

const NO_OTHERS = Promise.resolve(undefined);

class Conversation {
  /** The latest text of the model. */
  said = '';
  readonly #options: ConverseOptions;
  readonly #signal: AbortSignal;
  readonly #system: string;
  readonly #turns: ModelMessage[];
  #tools: readonly OfferedTool[];
  #book: ToolSpecs;
  readonly #budget: Budget;
  readonly #calls: ToolCalls;
  readonly #mistakes: RepeatedMistakes;
  #steps = 0;

  constructor(options: ConverseOptions, book: ToolSpecs, time: TimeLimit) {
    const { server, model, limits, canElicit, ask, run, tell, log } = options;
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, time.signal]);
    this.#system = systemPrompt(server, options.instructions);
    const words = openingWords(options.query, options.context);
    this.#turns = [{ from: 'user', text: words }];
    this.#tools = options.tools;
    this.#book = book;
    this.#budget = new Budget(limits.maxTokens, estimateTokens(this.#system + words) + book.tokens);
    const { allowDestructive } = limits;
    const consent = new Consent({ server, allowDestructive, canElicit, ask, time, tell });
    this.#calls = new ToolCalls({ server, consent, run, tell, log, signal: this.#signal });
    this.#mistakes = new RepeatedMistakes(server, model.name);
  }

  /** Resolves with the model's answer. */
  async run(): Promise<string> {
    for (;;) {
      this.#signal.throwIfAborted();
      const longest = this.#answerRoom();
      const reply = await this.#ask(longest);
      this.said = reply.text.trim();
      if (reply.stop === 'refused') throw modelRefusal(this.#options.model.name);
      const cut = reply.stop === 'length';
      if (cut && (reply.calls.length > 0 || this.said === ''))
        throw cutOff(this.#options.model.name, longest, longest < LONGEST_ANSWER);
      if (reply.calls.length === 0) return cut ? `${this.said} […]` : this.#answer();
      if (this.#steps >= this.#options.limits.maxSteps)
        throw tooManySteps(this.#options.server, this.#steps, reply.calls.length);
      // Nothing is run if there is no room for the model to read the result.
      this.#answerRoom();
      this.#turns.push({ from: 'model', reply });
      const ended = await this.#calls.runAll(reply.calls, this.#book);
      this.#signal.throwIfAborted();
      const fault = this.#mistakes.judge(ended);
      if (fault) throw fault;
      const results = ended.map(outcomeFor);
      this.#turns.push({ from: 'tools', results });
      this.#budget.add(results);
      await this.#lookAgain();
    }
  }

  report(answer: string, stopped?: SwitchboardError): JsonObject {
    const { model } = this.#options;
    const { records, attachments } = this.#calls;
    return report({
      model,
      answer: stopped ? answer : answer + this.#notAllowed(),
      calls: records,
      steps: this.#steps,
      tokens: this.#budget,
      attachments,
      stopped,
    });
  }

  /** The error to show for a thrown value. The text of a bug is not shown, because it may quote anything. */
  known(error: unknown): SwitchboardError {
    if (error instanceof SwitchboardError) return error;
    const { log, server, model } = this.#options;
    log.debug('language failure', {
      server,
      model: model.name,
      error: error instanceof Error ? error.name : typeof error,
    });
    return new SwitchboardError('INTERNAL', 'Switchboard failed to handle this request.', {
      cause: error,
    });
  }

  async #ask(maxTokens: number): Promise<ModelReply> {
    const { server, model, log, tell } = this.#options;
    const step = ++this.#steps;
    tell(`Asking ${nameOf(model)} (step ${step})`);
    const started = performance.now();
    const asked = model.reply({
      system: this.#system,
      // The model may keep the array it gets, while the conversation continues.
      turns: [...this.#turns],
      tools: this.#book.specs,
      maxTokens,
      signal: this.#signal,
      onRetry: (reason, waitMs) => {
        tell(`Asking ${nameOf(model)} again in ${Math.max(1, Math.round(waitMs / 1000))} s: ${reason}`);
      },
    });
    const reply = await untilAborted(asked, this.#signal);
    const { input, output } = this.#budget.spend(reply);
    log.debug('language step', {
      server,
      model: model.name,
      step,
      ms: Math.round(performance.now() - started),
      input,
      output,
      calls: reply.calls.length,
      stop: reply.stop,
    });
    return reply;
  }

  /** If the tools cannot be listed now, the model continues with the known ones. */
  async #lookAgain(): Promise<void> {
    const { listTools } = this.#options;
    const tools = await untilAborted(listTools?.() ?? NO_OTHERS, this.#signal).catch(() => undefined);
    if (tools === undefined || tools === this.#tools || tools.length === 0) return;
    this.#tools = tools;
    this.#book = await toolSpecs(tools);
  }

  /** The maximum length of the next response. Throws if there is no room for one. */
  #answerRoom(): number {
    const { room } = this.#budget;
    if (room >= SHORTEST_ANSWER) return Math.min(room, LONGEST_ANSWER);
    const { server, limits } = this.#options;
    const { specs, tokens } = this.#book;
    throw tooManyTokens(server, limits.maxTokens, { count: specs.length, tokens });
  }

  #answer(): string {
    if (this.said !== '') return this.said;
    const run = this.#calls.records.filter(({ outcome }) => outcome === 'ok').map(({ tool }) => tool);
    if (run.length > 0) return `Done. The model ran ${[...new Set(run)].join(', ')} and returned no text.`;
    const { server, model } = this.#options;
    throw noModelAnswer(model.name, server);
  }

  #notAllowed(): string {
    const tools = this.#calls.records
      .filter(({ outcome }) => outcome === 'not allowed')
      .map(({ tool }) => tool);
    if (tools.length === 0) return '';
    return `\n\nNot run because it may be destructive: ${[...new Set(tools)].join(', ')}. ${howToAllow(this.#options.server)}`;
  }
}

function nameOf({ provider, name }: Model): string {
  return provider === 'host' ? "the client's own model" : name;
}
