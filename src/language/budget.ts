import { estimateTokens } from '../shared/tokens.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { ModelReply, ToolOutcome } from './model.ts';

/** What one request may cost and has cost so far, in tokens. */
export class Budget {
  input = 0;
  output = 0;
  /** Whether this is our own estimate because the provider did not report the usage. */
  estimated = false;
  readonly #most: number;
  /** About what the model will read next: the whole conversation, every time. */
  #next: number;

  /** `opening`: about what the model reads before its first response. */
  constructor(most: number, opening: number) {
    this.#most = most;
    this.#next = opening;
  }

  /** What is left for a response after the conversation has been read again. */
  get room(): number {
    return this.#most - this.input - this.output - this.#next;
  }

  /** Counts a response of the model. Returns its cost. */
  spend({ usage, text, calls }: ModelReply): { readonly input: number; readonly output: number } {
    // Some endpoints report zeros for what they do not count.
    const told = usage !== undefined && usage.input > 0;
    const output = told ? usage.output : estimateTokens(text) + estimateTokens(JSON.stringify(calls));
    const input = told ? usage.input : this.#next;
    if (!told) this.estimated = true;
    this.input += input;
    this.output += output;
    this.#next = input + output;
    return { input, output };
  }

  /** Counts tool results that were added to the conversation. */
  add(results: readonly ToolOutcome[]): void {
    for (const { content } of results) for (const block of content) this.#next += tokensOf(block);
  }
}

/** An image or a sound of any size, which costs models about this many tokens. */
const TOKENS_OF_DATA = 1600;

function tokensOf(block: JsonObject): number {
  return typeof block.text === 'string' ? estimateTokens(block.text) : TOKENS_OF_DATA;
}
