/** A server as a script can call it. */
export interface ScriptServer {
  readonly name: string;
  readonly tools: readonly string[];
}

/** What a script may use. */
export interface ScriptLimits {
  /** How long it may take, in milliseconds. The time in which a user is asked does not count. Default 300000. */
  readonly timeoutMs: number;
  /** How long it may compute, in milliseconds; waiting for tools does not count. Default 5000. */
  readonly cpuMs: number;
  /** Memory of the interpreter, in MiB. Default 64. */
  readonly memoryMb: number;
  /** How many calls it may make. Default 1000. */
  readonly maxCalls: number;
  /** How many calls may run at one time; more wait. Default 8. */
  readonly concurrency: number;
  /** Longest result together with what it logs, in tokens. Default 10000. */
  readonly maxTokens: number;
}

/** What a thread is given when it starts. */
export interface ThreadData {
  readonly code: string;
  readonly servers: readonly ScriptServer[];
  readonly limits: ScriptLimits;
}

/** What the thread of a script says. */
export type ThreadMessage =
  /** The script is computing, or waits. */
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

/** What the thread is told: how a call ended. */
export type CallEnd =
  /** The response as it came, as JSON text with `result` or `error`. */
  | { readonly id: number; readonly response: string }
  /** It never came to a response. */
  | { readonly id: number; readonly failure: string; readonly code: string };

/** How a script ended. */
export interface ScriptOutcome {
  readonly ok: boolean;
  /** For the model: what the script returned and logged, or why it failed and where. */
  readonly text: string;
  readonly calls: number;
  /** How long it computed, in milliseconds. */
  readonly cpuMs: number;
}
