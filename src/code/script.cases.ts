import { TimeLimit } from '../shared/time-limit.ts';
import type { ScriptLimits, ScriptOutcome, ScriptServer } from './messages.ts';
import { runScript, type ScriptCall } from './run-script.ts';
import { startThread } from './threads.ts';

/** The defaults of the configuration. */
export const LIMITS: ScriptLimits = {
  timeoutMs: 300_000,
  cpuMs: 5000,
  memoryMb: 64,
  maxCalls: 1000,
  concurrency: 8,
  maxTokens: 10_000,
};

export interface ScriptSetup {
  readonly servers?: readonly ScriptServer[];
  readonly limits?: Partial<ScriptLimits>;
  /** Returns the response to a call. Default: the arguments as structured content. */
  readonly call?: (call: ScriptCall, signal: AbortSignal) => Promise<string> | string;
  readonly signal?: AbortSignal;
}

/** Runs a script the way the gateway does, with a tool `files.echo`. */
export async function run(code: string, setup: ScriptSetup = {}): Promise<ScriptOutcome> {
  const { servers = [{ name: 'files', tools: ['echo'] }], call = echo, signal } = setup;
  const limits = { ...LIMITS, ...setup.limits };
  const time = new TimeLimit(limits.timeoutMs);
  try {
    return await runScript({
      thread: startThread(limits.memoryMb),
      code,
      servers,
      limits,
      time,
      call: async (made, over) => call(made, over),
      signal: signal ?? new AbortController().signal,
    });
  } finally {
    time.close();
  }
}

function echo({ args }: ScriptCall): string {
  return `{"result":{"content":[],"structuredContent":${args}}}`;
}
