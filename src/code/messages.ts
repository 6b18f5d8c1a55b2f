/** A server whose tools a script can call. */
export interface ScriptServer {
  readonly name: string;
  readonly tools: readonly string[];
}

/** The limits of a script. */
export interface ScriptLimits {
  /** How long it may run, in milliseconds, not counting the time a user takes to answer. Default 300000. */
  readonly timeoutMs: number;
  /** CPU time it may use, in milliseconds; waiting for tools does not count. Default 5000. */
  readonly cpuMs: number;
  /** Memory limit of the interpreter, in MiB. Default 64. */
  readonly memoryMb: number;
  /** The most calls it may make. Default 1000. */
  readonly maxCalls: number;
  /** The most calls it may run at a time; further ones wait. Default 8. */
  readonly concurrency: number;
  /** The longest result, including what the script logs, in tokens. Default 10000. */
  readonly maxTokens: number;
}

/** What a thread receives when it starts. */
export interface ThreadData {
  readonly code: string;
  readonly servers: readonly ScriptServer[];
  readonly limits: ScriptLimits;
}

/** What a script's thread sends to the gateway. */
export type ThreadMessage =
  /** The script has started computing, or is waiting. */
  | { readonly kind: 'computing' }
  | { readonly kind: 'waiting' }
  /** `args`: a JSON object, as text. */
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly server: string;
      readonly tool: string;
      readonly args: string;
    }
  | { readonly kind: 'ended'; readonly outcome: ScriptOutcome };

/** What the gateway sends to the thread: how a call ended. */
export type CallEnd =
  /** The response as it came, as JSON text with `result` or `error`. */
  | { readonly id: number; readonly response: string }
  /** The call got no response. */
  | { readonly id: number; readonly failure: string; readonly code: string };

/** How a script ended. */
export interface ScriptOutcome {
  readonly ok: boolean;
  /** For the model: what the script returned and logged, or why it failed and where. */
  readonly text: string;
  readonly calls: number;
  /** CPU time it used, in milliseconds. */
  readonly cpuMs: number;
}
