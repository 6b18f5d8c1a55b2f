import type { JsonObject } from '../protocol/index.ts';

/** A language model that can call tools, from any provider. */
export interface Model {
  /** The provider of the model. */
  readonly provider: 'anthropic' | 'openai' | 'host';
  /** The provider's name for it; `host` for the host's own model. */
  readonly name: string;
  /**
   * Requests the next turn of a conversation. Rejects with a SwitchboardError that a person can act on, after retrying
   * if the model is overloaded.
   */
  reply(request: ModelRequest): Promise<ModelReply>;
}

export interface ModelRequest {
  /** Its instructions. */
  readonly system: string;
  /** The conversation so far, starting with the user's request. */
  readonly turns: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** The longest response, in tokens. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** Called before a retry, with a short reason and the wait in milliseconds. */
  readonly onRetry?: (reason: string, waitMs: number) => void;
}

/** A tool in the form that models accept. Its name has only letters, digits, `_` and `-`, 64 at most. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema whose type is object. */
  readonly inputSchema: JsonObject;
}

export type ModelMessage =
  | { readonly from: 'user'; readonly text: string }
  | { readonly from: 'model'; readonly reply: ModelReply }
  /** The results of all calls of the previous turn, in their order. */
  | { readonly from: 'tools'; readonly results: readonly ToolOutcome[] };

export interface ModelReply {
  /** Its text without calls; may be empty. */
  readonly text: string;
  /** The tools it wants to call, possibly several at once. */
  readonly calls: readonly ToolUse[];
  /** Why it stopped. `length`: it was cut off at `maxTokens`. */
  readonly stop: 'done' | 'calls' | 'length' | 'refused';
  /** In tokens; undefined if the provider does not report it. */
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  /** The turn as the model returned it, to be sent back unchanged: it may contain parts that only the model reads. */
  readonly raw: unknown;
}

export interface ToolUse {
  readonly id: string;
  /** As the model wrote it; there may be no such tool. */
  readonly name: string;
  /** Undefined if the model did not write an object; then `malformed` says what is wrong. */
  readonly input: JsonObject | undefined;
  readonly malformed?: string;
}

export interface ToolOutcome {
  /** The id of the call. */
  readonly id: string;
  /** The name that the call used. */
  readonly name: string;
  /** MCP content blocks. */
  readonly content: readonly JsonObject[];
  readonly isError: boolean;
}

/**
 * Sends a request to the client of a call. Resolves with its result; rejects if the client refuses, does not support
 * it, or is gone.
 */
export type AskClient = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
