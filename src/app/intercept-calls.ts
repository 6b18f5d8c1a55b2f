import type { Call, Source } from '../gateway/index.ts';
import type { Edit } from '../wire/index.ts';

/** Sees every tool call before its source does, and decides whether to pass it on. */
export type Intercept = (edits: Edit[], call: Call, pass: Source['request']) => void;

/** Requests that may be answered with the result of a tool. */
const CALLS: ReadonlySet<string> = new Set(['tools/call', 'tasks/result', 'tasks/get']);

/**
 * Sends every tool call, whichever component makes it, and every request for a task's result through the function that
 * `current` returns at that moment; undefined: nothing intercepts them. The source stays the same object.
 */
export function interceptCalls(source: Source, current: () => Intercept | undefined): Source {
  const pass = source.request.bind(source);
  source.request = (edits, call) => {
    const intercept = current();
    if (intercept !== undefined && CALLS.has(call.method)) intercept(edits, call, pass);
    else pass(edits, call);
  };
  return source;
}
