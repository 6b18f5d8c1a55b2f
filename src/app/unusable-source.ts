import type { UnusableServer } from '../config/index.ts';
import type { Source, SourceState } from '../gateway/index.ts';
import { SwitchboardError } from '../shared/errors.ts';

/** A server that cannot be used as it is defined, as a source: it starts nothing, and every call fails with the reason. */
export function unusableSource({ name, reason, nextStep }: UnusableServer): Source {
  const problem = new SwitchboardError('SERVER_UNUSABLE', `Server '${name}' is not available: ${reason}.`, {
    hint: nextStep,
  });
  const state: SourceState = { kind: 'unusable', error: problem };
  const refuse = (): Promise<never> => Promise.reject(problem);
  return {
    name,
    state,
    problem,
    about: () => undefined,
    list: refuse,
    known: () => undefined,
    remembered: () => undefined,
    request: (_edits, call) => call.fail(problem),
    start: refuse,
    ask: refuse,
    notify: () => undefined,
    listen: () => undefined,
    setIdleTimeout: () => undefined,
    fail: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
