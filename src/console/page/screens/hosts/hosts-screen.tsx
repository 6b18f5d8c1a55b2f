import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { HostChangeRequest, HostFileInfo, HostInfo } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { plural } from '../../parts/format.ts';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { useLoaded } from '../../state/load.ts';
import { CHANGE_TITLES, ChangePreview } from './change-preview.tsx';

/** The hosts on this machine, the servers they load, and how to put Switchboard in front of those. */
export function HostsScreen(): ComponentChildren {
  const [hosts, load] = useLoaded('hosts.list', {});
  const [change, setChange] = useState<HostChangeRequest | null>(null);
  return (
    <div class="page" tabIndex={0} role="group" aria-label="Hosts on this machine">
      <p class="page-intro">
        You see each change before it is made. <strong>Install</strong> adds Switchboard to a host.{' '}
        <strong>Take over</strong> also moves the host’s servers behind Switchboard, and{' '}
        <strong>Eject</strong> moves them back.
      </p>
      <LoadedPart loaded={hosts} what="hosts" onRetry={load}>
        {({ hosts: all }) => {
          const present = all.filter(({ files }) => files.some(({ exists }) => exists));
          const absent = all.filter((host) => !present.includes(host));
          return (
            <>
              <h2 class="page-title">On this machine</h2>
              {present.length === 0 ? <p class="muted">No supported host was found.</p> : null}
              <div class="hosts">
                {present.map((host) => (
                  <HostCard key={host.id} host={host} onChange={setChange} />
                ))}
              </div>
              {absent.length === 0 ? null : (
                <>
                  <h2 class="page-title">Not found</h2>
                  <ul class="hosts-absent">
                    {absent.map((host) => (
                      <li key={host.id}>
                        <span>{host.title}</span>
                        <Button
                          kind="quiet"
                          onClick={() => setChange({ host: host.id, change: 'install' })}
                        >{`Install in ${host.title}…`}</Button>
                      </li>
                    ))}
                  </ul>
                </>
              )}
            </>
          );
        }}
      </LoadedPart>
      {change === null ? null : (
        <ChangePreview
          change={change}
          onClose={() => setChange(null)}
          onDone={async () => {
            setChange(null);
            await load();
          }}
        />
      )}
    </div>
  );
}

interface HostCardProps {
  readonly host: HostInfo;
  readonly onChange: (change: HostChangeRequest) => void;
}

function HostCard({ host, onChange }: HostCardProps): ComponentChildren {
  const files = host.files.filter(({ exists }) => exists);
  const installed = files.some((file) => file.installed);
  const takenOver = files.some((file) => file.takenOver);
  const others = files.flatMap(({ servers }) => servers).length;
  const changes: readonly HostChangeRequest['change'][] = [
    ...(installed ? [] : (['install'] as const)),
    ...(others > 0 ? (['takeover'] as const) : []),
    ...(takenOver ? (['eject'] as const) : []),
    ...(installed ? (['uninstall'] as const) : []),
  ];
  return (
    <section class="host" aria-label={host.title}>
      <header class="host-head">
        <h3>{host.title}</h3>
        <span class={`state ${installed ? 'state-running' : 'state-stopped'}`}>
          <span class="dot" aria-hidden="true" />
          {takenOver ? 'Taken over' : installed ? 'Loads Switchboard' : 'Does not load Switchboard'}
        </span>
      </header>
      {files.map((file) => (
        <HostFile key={file.path} file={file} />
      ))}
      <footer class="form-foot">
        {changes.map((change) => (
          <Button key={change} onClick={() => onChange({ host: host.id, change })}>
            {`${CHANGE_TITLES[change]}…`}
          </Button>
        ))}
      </footer>
    </section>
  );
}

const HostFile = ({ file }: { file: HostFileInfo }): ComponentChildren => (
  <div class="host-file">
    <p>
      <code>{file.path}</code> <span class="muted">{file.scope}</span>
    </p>
    {file.problem === null ? null : <p class="bad">Cannot be read: {file.problem}</p>}
    {file.problem !== null ? null : file.servers.length === 0 ? (
      <p class="muted">{file.installed ? 'Only Switchboard.' : 'No servers.'}</p>
    ) : (
      <p title={plural(file.servers.length, 'server')}>
        {file.servers.map((name) => (
          <span key={name} class="badge">
            {name}
          </span>
        ))}
      </p>
    )}
  </div>
);
