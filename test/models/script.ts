/** A tool that a scripted model calls. */
export interface ScriptedCall {
  readonly name: string;
  readonly input?: object;
  /** What stands in place of the input, to be no valid JSON. */
  readonly inputText?: string;
  /** Default: made up, never the same twice. */
  readonly id?: string;
}

/** What a scripted model says in one turn. */
export interface ScriptedSpeech {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** What it thinks before that; a part that it wants back. Anthropic only. */
  readonly thinking?: string;
  /** Why it stops. Default: `calls` where there are some, else `done`. */
  readonly stop?: 'done' | 'calls' | 'length' | 'refused';
  /** In tokens. Default 100 and 10; null: it does not tell. */
  readonly usage?: { readonly input: number; readonly output: number } | null;
  /**
   * What happens after the first half of the answer. `error`: an error event (overloaded). `break`: the connection is
   * cut. `end`: the stream ends as if it were complete. `hang`: nothing more comes. `garbage`: an event that is no JSON.
   * `flood`: text without end.
   */
  readonly midway?: 'error' | 'break' | 'end' | 'hang' | 'garbage' | 'flood';
}

/** An answer with an error status. */
export interface ScriptedFailure {
  readonly status: number;
  /** The API's word for it. Default: what it says for this status. */
  readonly kind?: string;
  readonly message?: string;
  /** The header `retry-after`, in seconds. */
  readonly retryAfter?: number;
  /** Sent in place of the API's own form of an error. */
  readonly page?: string;
}

/** `hang`: no answer, until the client goes away. `drop`: the connection is closed without one. */
export interface ScriptedSilence {
  readonly instead: 'hang' | 'drop';
}

/** A string is a text, and nothing more. */
export type ScriptedTurn = string | ScriptedSpeech | ScriptedFailure | ScriptedSilence;

/** Turns in their order, or what decides each of them. A turn that is not there is answered with status 400. */
export type Script =
  | readonly ScriptedTurn[]
  | ((request: ModelServerRequest, turn: number) => ScriptedTurn | Promise<ScriptedTurn>);

/** A request that a scripted model got. */
export interface ModelServerRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed. */
  readonly body: any;
  /** What is wrong with it by the rules of the API; it was answered with status 400 or 401 then, without the script. */
  readonly fault: string | undefined;
  /** Whether the client closed the connection before the answer was complete. */
  readonly gone: boolean;
  /** Resolves when the answer is complete or the client is gone. */
  readonly over: Promise<void>;
}
