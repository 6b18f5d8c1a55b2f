import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ServerInfo } from '../../../protocol.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatTime,
  isWebAddress,
  plural,
} from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Detail, Fact, Facts, Section, Tabs } from '../../parts/layout.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { gatewayTitle } from '../../state/gateway-choice.ts';
import { calls, loginPages, logLines, serverKey } from '../../state/live.ts';
import { actAndTell } from '../../state/messages.ts';
import { changeQuery, hrefOf, route } from '../../state/route.ts';
import { EditEntry } from './edit-entry.tsx';
import { ServerChanges } from './server-changes.tsx';
import { ServerTools } from './server-tools.tsx';
import { StateMark, stateProblem, uptimeOf } from './server-state.tsx';

interface ServerDetailProps {
  readonly server: ServerInfo;
  readonly onClose: () => void;
}

export function ServerDetail({ server, onClose }: ServerDetailProps): ComponentChildren {
  const tab = route.value.query.tab ?? 'overview';
  return (
    <Detail
      label={`Server ${server.name}`}
      title={
        <>
          {server.name} <StateMark state={server.state} />
        </>
      }
      onClose={onClose}
      actions={<ServerActions server={server} onRemoved={onClose} />}
    >
      <ServerProblem server={server} />
      <LoginNotice server={server} />
      <ChangesNotice server={server} />
      <Tabs
        label="Parts"
        tabs={[
          { id: 'overview', title: 'Overview' },
          { id: 'tools', title: 'Tools', count: server.offers.tools },
          ...(server.toReview > 0 || tab === 'changes'
            ? [{ id: 'changes', title: 'Changes', count: server.toReview }]
            : []),
          { id: 'configuration', title: 'Configuration' },
        ]}
        chosen={tab}
        onChoose={(id) => changeQuery({ tab: id })}
      >
        {tab === 'tools' ? (
          <ServerTools server={server} />
        ) : tab === 'changes' ? (
          <ServerChanges server={server} />
        ) : tab === 'configuration' ? (
          <EditEntry server={server} />
        ) : (
          <Overview server={server} />
        )}
      </Tabs>
    </Detail>
  );
}

/** The actions that make sense in the server's current state. */
function ServerActions({
  server,
  onRemoved,
}: {
  server: ServerInfo;
  onRemoved: () => void;
}): ComponentChildren {
  const [removing, setRemoving] = useState(false);
  const { gateway, name, kind, state, file } = server;
  const params = { gateway, server: name };
  const runs = state.kind === 'running' || state.kind === 'starting';
  const startable = !runs && state.kind !== 'disabled' && state.kind !== 'unusable';
  return (
    <>
      {startable ? (
        <Button icon="start" changes onClick={() => actAndTell('start', name, 'servers.start', params)}>
          Start
        </Button>
      ) : null}
      {runs ? (
        <Button icon="stop" changes onClick={() => actAndTell('stop', name, 'servers.stop', params)}>
          Stop
        </Button>
      ) : null}
      {runs || state.kind === 'failed' ? (
        <Button
          icon="reload"
          changes
          title="Restart the server with the same definition"
          onClick={() => actAndTell('reload', name, 'servers.reload', params)}
        >
          Reload
        </Button>
      ) : null}
      {kind === 'remote' && state.kind !== 'disabled' ? <LoginButton server={server} /> : null}
      {state.kind === 'disabled' ? (
        <Button changes onClick={() => actAndTell('enable', name, 'servers.enable', params)}>
          Enable
        </Button>
      ) : file === null ? null : (
        <Button changes onClick={() => actAndTell('disable', name, 'servers.disable', params)}>
          Disable
        </Button>
      )}
      {kind === 'builtin' ? null : (
        <Button icon="remove" kind="quiet" changes onClick={() => setRemoving(true)}>
          Remove
        </Button>
      )}
      {removing ? (
        <Confirm
          title={`Remove ${name}?`}
          action="Remove"
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            const { ok } = await actAndTell('remove', name, 'servers.remove', params);
            setRemoving(false);
            if (ok) onRemoved();
          }}
        >
          <p>
            {file === null ? (
              'This server was added at run time. Clients lose its tools immediately.'
            ) : (
              <>
                This removes the entry from <code>{file}</code>, after a backup of the file. Clients lose the
                server’s tools immediately.
              </>
            )}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function LoginButton({ server }: { server: ServerInfo }): ComponentChildren {
  const { gateway, name, state } = server;
  const params = { gateway, server: name };
  const [opening, setOpening] = useState(false);
  const url = loginPages.value.get(serverKey(server))?.url;
  useEffect(() => {
    // A browser may block the new window, so the notice shows the address too.
    if (opening && url !== undefined && isWebAddress(url)) window.open(url, '_blank', 'noopener');
  }, [url]);
  const changeLogin = async (what: 'in' | 'out'): Promise<void> => {
    setOpening(what === 'in');
    if (what === 'in') await actAndTell('log in to', name, 'servers.login', params);
    else await actAndTell('log out of', name, 'servers.logout', params);
    setOpening(false);
  };
  return state.kind === 'needs-login' ? (
    <Button icon="key" kind="main" changes title="Open the login page" onClick={() => changeLogin('in')}>
      Log in
    </Button>
  ) : (
    <Button
      icon="key"
      kind="quiet"
      changes
      title="Delete the login for this server"
      onClick={() => changeLogin('out')}
    >
      Log out
    </Button>
  );
}

/** Where to log in, while a login is in progress. */
function LoginNotice({ server }: { server: ServerInfo }): ComponentChildren {
  const page = loginPages.value.get(serverKey(server));
  if (page === undefined) return null;
  return (
    <div class="notice notice-warn" role="group" aria-label="Login">
      <Icon name="key" />
      <div class="notice-body">
        <p class="notice-text">Log in on the page that opened.</p>
        <p>
          If no page opened, open{' '}
          {isWebAddress(page.url) ? (
            <a href={page.url} target="_blank" rel="noopener noreferrer">
              the login page
            </a>
          ) : (
            <code>{page.url}</code>
          )}
          . After the login, it redirects to port {page.returnPort} of the machine that runs the console.
        </p>
      </div>
    </div>
  );
}

/** Shown if some of its tools have changed. */
function ChangesNotice({ server }: { server: ServerInfo }): ComponentChildren {
  const { toReview } = server;
  if (!(toReview > 0) || route.value.query.tab === 'changes') return null;
  return (
    <div class="notice notice-warn" role="group" aria-label="Changed tools">
      <Icon name="warn" />
      <div class="notice-body">
        <p class="notice-text">
          {plural(toReview, 'tool')} changed since {toReview === 1 ? 'it was' : 'they were'} first used.
        </p>
        <div class="notice-foot">
          <Button onClick={() => changeQuery({ tab: 'changes' })}>Show what changed</Button>
        </div>
      </div>
    </div>
  );
}

function ServerProblem({ server }: { server: ServerInfo }): ComponentChildren {
  const problem = stateProblem(server.state);
  if (problem === null) return null;
  return (
    <ProblemNotice problem={problem} kind={server.state.kind === 'running' ? 'warn' : 'failed'}>
      <a href={hrefOf('logs', [], { gateway: server.gateway, server: server.name })}>Show the log</a>
    </ProblemNotice>
  );
}

function Overview({ server }: { server: ServerInfo }): ComponentChildren {
  const { state, offers } = server;
  const uptime = uptimeOf(server);
  return (
    <>
      <Facts>
        <Fact name="Process">{state.kind === 'running' && state.pid !== null ? state.pid : '—'}</Fact>
        <Fact name="Memory">{formatBytes(server.memory)}</Fact>
        <Fact name="Uptime">{uptime === null ? '—' : formatDuration(uptime)}</Fact>
        <Fact name="Protocol">{server.protocolVersion ?? '—'}</Fact>
        <Fact name="Tools">{formatCount(offers.tools)}</Fact>
        <Fact name="Resources">
          {formatCount(offers.resources)}
          {(offers.resourceTemplates ?? 0) > 0 ? ` + ${formatCount(offers.resourceTemplates)} templates` : ''}
        </Fact>
        <Fact name="Prompts">{formatCount(offers.prompts)}</Fact>
        <Fact name="Calls">
          {formatCount(server.calls.total)}
          {server.calls.running > 0 ? `, ${server.calls.running} running` : ''}
        </Fact>
        <Fact name="Errors">{formatCount(server.calls.failed)}</Fact>
      </Facts>
      <TokenBar server={server} />
      <Section title="Definition">
        <Facts>
          <Fact name="Title">{server.title ?? '—'}</Fact>
          <Fact name="Exposure">
            <a href={hrefOf('model')}>{server.exposure}</a>
          </Fact>
          <Fact name="Gateway">{gatewayTitle(server.gateway)}</Fact>
        </Facts>
        {server.command === '' ? null : (
          <p class="line-copy">
            <code>{server.command}</code>
            <CopyButton text={server.command} name="Copy the command" />
          </p>
        )}
        <p class="muted">
          {server.file === null
            ? state.kind === 'disabled'
              ? ''
              : 'Added at run time, not in any file'
            : `Defined in ${server.file}`}
        </p>
      </Section>
      <RecentCalls server={server} />
      <RecentLines server={server} />
    </>
  );
}

/** What its tools cost now, relative to what they would cost one by one. */
function TokenBar({ server }: { server: ServerInfo }): ComponentChildren {
  const { tokens, exposure } = server;
  if (tokens === null) return null;
  const part = tokens.flat === 0 ? 0 : Math.min(1, tokens.exposed / tokens.flat);
  return (
    <div class="token-bar">
      <div class="bar" aria-hidden="true">
        <div class="bar-part" style={{ width: `${part * 100}%` }} />
      </div>
      <p>
        <strong>{formatCount(tokens.exposed)} tokens</strong> as {exposure},{' '}
        <span class="muted">{formatCount(tokens.flat)} if exposed flat</span>
      </p>
    </div>
  );
}

const RECENT = 8;

function RecentCalls({ server }: { server: ServerInfo }): ComponentChildren {
  const recent = calls.value
    .filter((call) => call.gateway === server.gateway && call.server === server.name)
    .slice(-RECENT)
    .reverse();
  return (
    <Section
      title="Recent calls"
      actions={<a href={hrefOf('calls', [], { server: server.name })}>All calls</a>}
    >
      {recent.length === 0 ? (
        <p class="muted">No calls since this page was opened.</p>
      ) : (
        <ul class="lines">
          {recent.map((call) => (
            <li key={call.id}>
              <a href={hrefOf('calls', [call.gateway, call.id], { server: server.name })}>
                <time>{formatTime(call.at)}</time> {call.subtool ?? call.name ?? call.method}
              </a>{' '}
              <span class={call.outcome === 'ok' || call.outcome === null ? 'muted' : 'bad'}>
                {call.outcome ?? 'running'}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function RecentLines({ server }: { server: ServerInfo }): ComponentChildren {
  const recent = logLines.value
    .filter((line) => line.gateway === server.gateway && line.server === server.name)
    .slice(-RECENT);
  return (
    <Section
      title="Log"
      actions={<a href={hrefOf('logs', [], { gateway: server.gateway, server: server.name })}>Full log</a>}
    >
      {recent.length === 0 ? (
        <p class="muted">No log lines yet.</p>
      ) : (
        <pre class="log-end" tabIndex={0} aria-label="The last log lines">
          {recent.map(({ at, text }) => `${formatTime(at)} ${text}`).join('\n')}
        </pre>
      )}
    </Section>
  );
}
