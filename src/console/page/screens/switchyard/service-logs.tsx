import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { YardProject } from '../../../protocol.ts';
import { SearchField } from '../../parts/fields.tsx';
import { Detail } from '../../parts/layout.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { useLoaded } from '../../state/load.ts';

interface ServiceLogsProps {
  readonly project: YardProject;
  readonly branch: string;
  /** Null: all services of the branch. */
  readonly service: string | null;
  readonly onClose: () => void;
}

const LINES = 500;
const AGAIN_MS = 2_000;

/** The end of the logs, reloaded while it is in view. */
export function ServiceLogs({ project, branch, service, onClose }: ServiceLogsProps): ComponentChildren {
  const [search, setSearch] = useState('');
  const [logs, load] = useLoaded('services.logs', {
    directory: project.directory,
    branch,
    lines: LINES,
    ...(service === null ? {} : { service }),
    ...(search === '' ? {} : { search }),
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void load();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [load]);
  const title = service === null ? branch : `${service} of ${branch}`;
  return (
    <Detail label={`Logs of ${title}`} title={title} onClose={onClose}>
      <SearchField label="Find in the logs" value={search} onInput={setSearch} />
      <LoadedPart loaded={logs} what="the logs" onRetry={load}>
        {({ lines }) =>
          lines.length === 0 ? (
            <p class="muted">{search === '' ? 'No log lines yet.' : 'No matching lines.'}</p>
          ) : (
            <LogEnd
              label={`Logs of ${title}`}
              lines={lines.map((line) => (service === null ? `${line.service}  ${line.text}` : line.text))}
            />
          )
        }
      </LoadedPart>
    </Detail>
  );
}

/** Keeps the end in view, unless the user has scrolled up. */
function LogEnd({ lines, label }: { lines: readonly string[]; label: string }): ComponentChildren {
  const box = useRef<HTMLPreElement>(null);
  const following = useRef(true);
  useLayoutEffect(() => {
    if (following.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <pre
      ref={box}
      class="log-end log-tall"
      tabIndex={0}
      aria-label={label}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
        void (following.current = scrollHeight - scrollTop - clientHeight < 20)
      }
    >
      {lines.join('\n')}
    </pre>
  );
}
