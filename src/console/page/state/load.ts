/** Loads data from the server for a part of a screen. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ActionName, Actions, Problem } from '../../protocol.ts';
import { act } from './act.ts';

export type Loaded<T> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded'; readonly value: T }
  | { readonly kind: 'failed'; readonly problem: Problem };

/**
 * Loads on first render and whenever `params` or `version` change; the old data stays until the new arrives. The second
 * value reloads.
 */
export function useLoaded<M extends ActionName>(
  method: M,
  params: Actions[M]['params'],
  version: string | number | null = null,
): readonly [Loaded<Actions[M]['result']>, () => Promise<void>] {
  const [loaded, setLoaded] = useState<Loaded<Actions[M]['result']>>({ kind: 'loading' });
  const key = JSON.stringify([method, params, version]);
  const latest = useRef(0);
  const load = useCallback(async (): Promise<void> => {
    const turn = (latest.current += 1);
    const response = await act(method, params);
    // Only the response to the latest request counts, in whatever order they arrive.
    if (turn !== latest.current) return;
    setLoaded(
      response.ok ? { kind: 'loaded', value: response.result } : { kind: 'failed', problem: response.error },
    );
  }, [key]);
  useEffect(() => {
    void load();
    return () => void (latest.current += 1);
  }, [load]);
  return [loaded, load];
}
