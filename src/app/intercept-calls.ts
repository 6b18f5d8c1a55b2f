import type { Call, Source } from '../gateway/index.ts';
import type { Edit } from '../wire/index.ts';

/** Sees every call of a tool before its source does, and passes it on, or does not. */
export type Intercept = (edits: Edit[], call: Call, pass: Source['request']) => void;

/** Requests whose answer may be the result of a tool. */
const CALLS: ReadonlySet<string> = new Set(['tools/call', 'tasks/result', 'tasks/get']);

/**
 * Has every call of a tool go through what `current` returns then, whichever component makes it, and every request for the
 * result of a task; undefined: nothing sees them. The source stays the same object.
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
