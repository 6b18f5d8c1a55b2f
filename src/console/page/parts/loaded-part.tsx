import type { ComponentChildren } from 'preact';
import type { Loaded } from '../state/load.ts';
import { Button } from './button.tsx';
import { Loading, ProblemNotice } from './notice.tsx';

/** Shows loaded data, a placeholder while it loads, or the error. */
export function LoadedPart<T>({
  loaded,
  what,
  onRetry,
  children,
}: {
  loaded: Loaded<T>;
  what: string;
  onRetry: () => Promise<void>;
  children: (value: T) => ComponentChildren;
}): ComponentChildren {
  if (loaded.kind === 'loading') return <Loading what={what} />;
  if (loaded.kind === 'loaded') return children(loaded.value);
  return (
    <ProblemNotice problem={loaded.problem}>
      <Button icon="reload" onClick={onRetry}>
        Try again
      </Button>
    </ProblemNotice>
  );
}
