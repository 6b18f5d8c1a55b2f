import { estimateTokens } from '../shared/tokens.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { ModelReply, ToolOutcome } from './model.ts';

/** What one request may cost and has cost, in tokens. */
export class Budget {
  input = 0;
  output = 0;
  /** True if the provider did not report it and this is our own estimate. */
  estimated = false;
  readonly #most: number;
  /** About what the model reads when it is asked next: the whole conversation, every time. */
  #next: number;

  /** `opening`: about what the model reads before its first response. */
  constructor(most: number, opening: number) {
    this.#most = most;
    this.#next = opening;
  }

  /** What is left for an answer, once the conversation has been read again. */
  get room(): number {
    return this.#most - this.input - this.output - this.#next;
  }

  /** The model has answered. Returns what that cost. */
  spend({ usage, text, calls }: ModelReply): { readonly input: number; readonly output: number } {
    // Some endpoints give zeros for what they do not count.
    const told = usage !== undefined && usage.input > 0;
    const output = told ? usage.output : estimateTokens(text) + estimateTokens(JSON.stringify(calls));
    const input = told ? usage.input : this.#next;
    if (!told) this.estimated = true;
    this.input += input;
    this.output += output;
    this.#next = input + output;
    return { input, output };
  }

  /** The conversation has become longer by these. */
  add(results: readonly ToolOutcome[]): void {
    for (const { content } of results) for (const block of content) this.#next += tokensOf(block);
  }
}

/** An image or a sound, whatever its size: models make about so many of it. */
const TOKENS_OF_DATA = 1600;

function tokensOf(block: JsonObject): number {
  return typeof block.text === 'string' ? estimateTokens(block.text) : TOKENS_OF_DATA;
}
