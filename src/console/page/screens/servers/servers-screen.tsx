import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ServerInfo } from '../../../protocol.ts';
import { GatewaysDialog } from '../../frame/gateways-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { SearchField } from '../../parts/fields.tsx';
import { formatBytes, formatCount, formatDuration, plural } from '../../parts/format.ts';
import { Split, Toolbar } from '../../parts/layout.tsx';
import { EmptyState } from '../../parts/notice.tsx';
import { VirtualList, type ListColumn } from '../../parts/virtual-list.tsx';
import { gatewayTitle, isChosen, severalGateways } from '../../state/gateway-choice.ts';
import { gateways, keyIn, serverKey, serverList, servers } from '../../state/live.ts';
import { changeQuery, goTo, hrefOf, route } from '../../state/route.ts';
import { AddServer } from './add-server.tsx';
import { ServerDetail } from './server-detail.tsx';
import { StateMark, stateProblem, stateRank, uptimeOf } from './server-state.tsx';

const Unknown = <span class="muted">—</span>;
const counted = (value: number | null): ComponentChildren => (value === null ? Unknown : formatCount(value));

const COLUMNS: readonly (ListColumn<ServerInfo> & {
  readonly by: (server: ServerInfo) => string | number;
})[] = [
  {
    id: 'name',
    title: 'Name',
    by: ({ name }) => name.toLowerCase(),
    cell: ({ gateway, name }) => (
      <>
        <span class="strong">{name}</span>
        {severalGateways.value ? <span class="sub">{gatewayTitle(gateway)}</span> : null}
      </>
    ),
  },
  {
    id: 'state',
    title: 'State',
    by: stateRank,
    cell: ({ state }) => <StateMark state={state} />,
  },
  {
    id: 'problem',
    title: 'Problem or command',
    by: ({ state, toReview, command }) =>
      stateProblem(state)?.message ?? (toReview > 0 ? changesText(toReview) : `~${command}`),
    cell: ({ state, toReview, command }) => {
      const problem = stateProblem(state);
      if (problem !== null) return <span class="problem-line">{problem.message}</span>;
      if (toReview > 0) return <span class="caution-line">{changesText(toReview)}</span>;
      return <code class="muted">{command}</code>;
    },
  },
  {
    id: 'tools',
    title: 'Tools',
    align: 'end',
    by: ({ offers }) => offers.tools ?? -1,
    cell: ({ offers }) => counted(offers.tools),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    align: 'end',
    by: ({ tokens }) => tokens?.exposed ?? -1,
    cell: ({ tokens }) =>
      tokens === null ? (
        Unknown
      ) : (
        <span title={`${formatCount(tokens.flat)} if exposed flat`}>{formatCount(tokens.exposed)}</span>
      ),
  },
  {
    id: 'memory',
    title: 'Memory',
    align: 'end',
    by: ({ memory }) => memory ?? -1,
    cell: ({ memory }) => (memory === null ? Unknown : formatBytes(memory)),
  },
  {
    id: 'uptime',
    title: 'Uptime',
    align: 'end',
    by: (server) => uptimeOf(server) ?? -1,
    cell: (server) => <Uptime server={server} />,
  },
  {
    id: 'calls',
    title: 'Calls',
    align: 'end',
    by: ({ calls }) => calls.total,
    cell: ({ calls }) => formatCount(calls.total),
  },
  {
    id: 'errors',
    title: 'Errors',
    align: 'end',
    by: ({ calls }) => calls.failed,
    cell: ({ calls }) =>
      calls.failed === 0 ? (
        <span class="muted">0</span>
      ) : (
        <span class="bad">{formatCount(calls.failed)}</span>
      ),
  },
];

const changesText = (toReview: number): string => `${plural(toReview, 'tool')} changed`;

function Uptime({ server }: { server: ServerInfo }): ComponentChildren {
  const uptime = uptimeOf(server);
  return uptime === null ? Unknown : formatDuration(uptime);
}

export function ServersScreen(): ComponentChildren {
  const [adding, setAdding] = useState(false);
  const [showingGateways, setShowingGateways] = useState(false);
  const { path, query } = route.value;
  const [gateway = '', name = ''] = path;
  const selected = servers.value.get(keyIn(gateway, name));
  const inGateway = serverList.value.filter((server) => isChosen(server.gateway));
  const shown = sorted(
    inGateway.filter(matching(query.find ?? '')),
    query.sort ?? 'name',
    query.order === 'down',
  );
  const open = (server: ServerInfo | null): void =>
    goTo(
      hrefOf('servers', server === null ? [] : [server.gateway, server.name], {
        ...query,
        tab: server === null ? undefined : query.tab,
      }),
    );
  return (
    <Split
      detail={
        selected === undefined ? null : (
          <ServerDetail key={serverKey(selected)} server={selected} onClose={() => open(null)} />
        )
      }
    >
      <Toolbar>
        <SearchField
          label="Find servers"
          value={query.find ?? ''}
          onInput={(find) => changeQuery({ find })}
        />
        <Summary servers={inGateway} />
        <span class="grow" />
        <Button onClick={() => setShowingGateways(true)}>{`Gateways (${gateways.value.size})`}</Button>
        <Button icon="add" kind="main" changes onClick={() => setAdding(true)}>
          Add a server
        </Button>
      </Toolbar>
      {inGateway.length === 0 ? (
        <EmptyState title="No servers yet">
          <p>Add one from a command line, a package name, a URL, or the JSON in a server’s README.</p>
          <Button icon="add" kind="main" changes onClick={() => setAdding(true)}>
            Add a server
          </Button>
        </EmptyState>
      ) : shown.length === 0 ? (
        <EmptyState title="No matching servers">
          <p>The search covers names, commands, states and problems.</p>
          <Button onClick={() => changeQuery({ find: '' })}>Show all {inGateway.length}</Button>
        </EmptyState>
      ) : (
        <VirtualList
          label="Servers"
          name="servers"
          items={shown}
          itemKey={serverKey}
          columns={COLUMNS}
          rowHeight={severalGateways.value ? 44 : 34}
          selected={selected === undefined ? null : serverKey(selected)}
          onSelect={open}
          sort={{
            by: query.sort ?? 'name',
            descending: query.order === 'down',
            change: (id) =>
              changeQuery({
                sort: id,
                order: (query.sort ?? 'name') === id && query.order !== 'down' ? 'down' : undefined,
              }),
          }}
        />
      )}
      {showingGateways ? <GatewaysDialog onClose={() => setShowingGateways(false)} /> : null}
      {adding ? <AddServer onClose={() => setAdding(false)} /> : null}
    </Split>
  );
}

function Summary({ servers }: { servers: readonly ServerInfo[] }): ComponentChildren {
  const running = servers.filter(({ state }) => state.kind === 'running').length;
  const tokens = servers.reduce(
    (sum, { tokens }) => ({
      flat: sum.flat + (tokens?.flat ?? 0),
      exposed: sum.exposed + (tokens?.exposed ?? 0),
    }),
    { flat: 0, exposed: 0 },
  );
  return (
    <p class="summary">
      <span>
        {plural(servers.length, 'server')}, {running} running
      </span>
      {tokens.flat > 0 ? (
        <span>
          {formatCount(tokens.exposed)} of {formatCount(tokens.flat)} tokens
        </span>
      ) : null}
    </p>
  );
}

function matching(find: string): (server: ServerInfo) => boolean {
  const words = find.toLowerCase().split(/\s+/);
  return ({ name, command, state, toReview }) => {
    const said = [
      ...[name, command, state.kind, stateProblem(state)?.message ?? ''],
      toReview > 0 ? changesText(toReview) : '',
    ];
    const text = said.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

function sorted(all: readonly ServerInfo[], id: string, descending: boolean): readonly ServerInfo[] {
  const by = COLUMNS.find((column) => column.id === id)?.by;
  if (by === undefined) return all;
  const sign = descending ? -1 : 1;
  const keys = new Map(all.map((server) => [server, by(server)]));
  const compare = (a: string | number = 0, b: string | number = 0): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...all].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
}
