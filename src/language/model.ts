import type { JsonObject } from '../protocol/index.ts';

/** A language model that can call tools, from any provider. */
export interface Model {
  /** Whose it is. */
  readonly provider: 'anthropic' | 'openai' | 'host';
  /** What it is called there; for the host's own, `host`. */
  readonly name: string;
  /**
   * Asks for the next turn of a conversation. Rejects with a SwitchboardError that a person can act on; an overloaded
   * model has been asked again before that.
   */
  reply(request: ModelRequest): Promise<ModelReply>;
}

export interface ModelRequest {
  /** Its instructions. */
  readonly system: string;
  /** The conversation so far, starting with the user's request. */
  readonly turns: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** The longest answer, in tokens. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** Told when it has to be asked again, with the reason in a few words and how long is waited, in milliseconds. */
  readonly onRetry?: (reason: string, waitMs: number) => void;
}

/** A tool in the words of a model. Its name has only letters, digits, `_` and `-`, 64 at most. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema whose type is object. */
  readonly inputSchema: JsonObject;
}

export type ModelMessage =
  | { readonly from: 'user'; readonly text: string }
  | { readonly from: 'model'; readonly reply: ModelReply }
  /** What came of the calls of the turn before, all of them, in their order. */
  | { readonly from: 'tools'; readonly results: readonly ToolOutcome[] };

export interface ModelReply {
  /** Its text, apart from calls; may be empty. */
  readonly text: string;
  /** Tools it wants to call, several at one time. */
  readonly calls: readonly ToolUse[];
  /** Why it stopped. `length`: it was cut off at `maxTokens`. */
  readonly stop: 'done' | 'calls' | 'length' | 'refused';
  /** In tokens; undefined if the provider does not report it. */
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  /** The turn as the model gave it, to be given back to it unchanged: it may hold parts that only the model reads. */
  readonly raw: unknown;
}

export interface ToolUse {
  readonly id: string;
  /** As the model wrote it; there may be no such tool. */
  readonly name: string;
  /** Undefined where what it wrote is not an object; then `malformed` says what is wrong. */
  readonly input: JsonObject | undefined;
  readonly malformed?: string;
}

export interface ToolOutcome {
  /** Of the call. */
  readonly id: string;
  /** What it was called by. */
  readonly name: string;
  /** Content blocks as MCP has them. */
  readonly content: readonly JsonObject[];
  readonly isError: boolean;
}

/** Asks the client of a call something. Resolves with its result; rejects where it refuses, cannot, or is gone. */
export type AskClient = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
