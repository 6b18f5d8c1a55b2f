import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { CallInfo } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceBar, SearchField, Select, Toggle } from '../../parts/fields.tsx';
import { formatBytes, formatCount, formatMs, formatTimeMs } from '../../parts/format.ts';
import { Split, Toolbar } from '../../parts/layout.tsx';
import { EmptyState } from '../../parts/notice.tsx';
import { VirtualList, type ListColumn } from '../../parts/virtual-list.tsx';
import { act } from '../../state/act.ts';
import { now } from '../../state/clock.ts';
import { chosenGateway, gatewayTitle, isChosen, severalGateways } from '../../state/gateway-choice.ts';
import { addOlderCalls, callKey, calls, keyIn, leftOut } from '../../state/live.ts';
import { tell } from '../../state/messages.ts';
import { changeQuery, goTo, hrefOf, route } from '../../state/route.ts';
import { CallDetailPane } from './call-detail.tsx';
import { callName, toneOf } from './call-text.ts';
import { Outcome } from './outcome.tsx';
import { TimeLine } from './time-line.tsx';

const COLUMNS: readonly ListColumn<CallInfo>[] = [
  { id: 'time', title: 'Time', cell: ({ at }) => <time>{formatTimeMs(at)}</time> },
  {
    id: 'client',
    title: 'Client',
    cell: (call) => (
      <span title={severalGateways.value ? gatewayTitle(call.gateway) : undefined}>
        {call.clientName ?? call.client}
      </span>
    ),
  },
  { id: 'server', title: 'Server', cell: ({ server }) => server ?? <span class="muted">gateway</span> },
  {
    id: 'name',
    title: 'Tool',
    cell: (call) => (
      <>
        <span class="strong">{callName(call)}</span>
        {call.method === 'tools/call' ? null : <span class="muted"> {call.method}</span>}
      </>
    ),
  },
  { id: 'outcome', title: 'Outcome', cell: (call) => <Outcome call={call} /> },
  { id: 'ms', title: 'Duration', align: 'end', cell: (call) => <Taken call={call} /> },
  { id: 'bytes', title: 'Result', align: 'end', cell: ({ bytes }) => formatBytes(bytes) },
];

function Taken({ call }: { call: CallInfo }): ComponentChildren {
  return call.ms === null ? (
    <span class="muted">{formatMs(Math.max(0, now.value - call.at))}</span>
  ) : (
    formatMs(call.ms)
  );
}

const OLDER = 200;

export function CallsScreen(): ComponentChildren {
  const { path, query } = route.value;
  const [gateway = '', id = ''] = path;
  const all = calls.value;
  const shown = useMemo(
    () => all.filter(matching(query)),
    [all, query.find, query.server, query.client, query.failed, chosenGateway.value],
  );
  const selectedKey = path.length === 2 ? keyIn(gateway, id) : null;
  const open = (call: CallInfo | null): void =>
    goTo(hrefOf('calls', call === null ? [] : [call.gateway, call.id], query));
  const timeLine = query.view === 'time' && (query.client ?? '') !== '';
  return (
    <Split
      detail={
        selectedKey === null ? null : (
          <CallDetailPane key={selectedKey} gateway={gateway} id={id} onClose={() => open(null)} />
        )
      }
    >
      <Filters all={all} shown={shown.length} />
      {shown.length === 0 ? (
        <NoCalls filtered={all.length > 0} />
      ) : timeLine ? (
        <TimeLine calls={shown} selected={selectedKey} onSelect={open} />
      ) : (
        <VirtualList
          label="Calls"
          name="calls"
          items={shown}
          itemKey={callKey}
          columns={COLUMNS}
          rowHeight={30}
          follow
          selected={selectedKey}
          onSelect={open}
          rowClass={(call) => `call-${toneOf(call)}`}
        />
      )}
    </Split>
  );
}

function Filters({ all, shown }: { all: readonly CallInfo[]; shown: number }): ComponentChildren {
  const { query } = route.value;
  const clientNames = new Map(
    all.map((call) => [keyIn(call.gateway, call.client), call.clientName ?? call.client]),
  );
  const serverNames = [...new Set(all.flatMap(({ server }) => (server === null ? [] : [server])))].sort();
  return (
    <Toolbar>
      <SearchField label="Find calls" value={query.find ?? ''} onInput={(find) => changeQuery({ find })} />
      <Select
        label="Server"
        value={query.server ?? ''}
        options={[
          { value: '', title: 'All servers' },
          ...[...new Set([...serverNames, ...(query.server === undefined ? [] : [query.server])])].map(
            (name) => ({
              value: name,
              title: name,
            }),
          ),
        ]}
        onChange={(server) => changeQuery({ server })}
      />
      <Select
        label="Client"
        value={query.client ?? ''}
        options={[
          { value: '', title: 'All clients' },
          ...[...clientNames].map(([key, name]) => ({
            value: key,
            title: titleOfClient(key, name, clientNames),
          })),
        ]}
        onChange={(client) => changeQuery({ client, view: client === '' ? undefined : query.view })}
      />
      <Toggle
        label="Failed only"
        checked={query.failed === 'yes'}
        onChange={(on) => changeQuery({ failed: on ? 'yes' : undefined })}
      />
      <ChoiceBar
        label="View"
        value={query.view === 'time' ? 'time' : 'list'}
        options={[
          { value: 'list', title: 'List' },
          { value: 'time', title: 'Timeline', hint: 'The calls of one client, over time' },
        ]}
        onChange={(view) =>
          changeQuery({
            view: view === 'time' ? 'time' : undefined,
            // The time line shows one conversation: the latest, unless another one is chosen.
            ...(view === 'time' && (query.client ?? '') === ''
              ? { client: [...clientNames.keys()].at(-1) }
              : {}),
          })
        }
      />
      <span class="grow" />
      <span class="summary" role="status">
        {shown === all.length ? '' : `${formatCount(shown)} of `}
        {formatCount(all.length)} calls
        {leftOut.value.calls > 0 ? `, ${formatCount(leftOut.value.calls)} not shown` : ''}
      </span>
      <Older first={all[0]} />
    </Toolbar>
  );
}

/** Clients often have the same name; then their ids are shown too. */
const titleOfClient = (key: string, name: string, all: ReadonlyMap<string, string>): string =>
  [...all.values()].filter((each) => each === name).length > 1
    ? `${name} (${key.split('\n')[1] ?? ''})`
    : name;

function Older({ first }: { first: CallInfo | undefined }): ComponentChildren {
  const [none, setNone] = useState(false);
  if (first === undefined) return null;
  const load = async (): Promise<void> => {
    const before = { gateway: first.gateway, call: first.id };
    const response = await act('calls.list', { before, limit: OLDER });
    if (!response.ok) {
      tell('Older calls could not be loaded', response.error);
      return;
    }
    addOlderCalls([...response.result.calls].reverse());
    if (!response.result.more) setNone(true);
  };
  return (
    <Button disabled={none} icon="up" onClick={load}>
      {none ? 'All loaded' : 'Load older'}
    </Button>
  );
}

const NoCalls = ({ filtered }: { filtered: boolean }): ComponentChildren =>
  filtered ? (
    <EmptyState title="No matching calls">
      <Button
        onClick={() =>
          changeQuery({
            find: undefined,
            server: undefined,
            client: undefined,
            failed: undefined,
            view: undefined,
          })
        }
      >
        Show all calls
      </Button>
    </EmptyState>
  ) : (
    <EmptyState title="No calls yet">
      <p>Calls appear here as they happen. They are recorded only while a console is open.</p>
      <p>
        <a href={hrefOf('try')}>Try a tool</a> to make one yourself.
      </p>
    </EmptyState>
  );

function matching(query: Readonly<Record<string, string>>): (call: CallInfo) => boolean {
  const words = (query.find ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return (call) => {
    if (!isChosen(call.gateway)) return false;
    if ((query.server ?? '') !== '' && call.server !== query.server) return false;
    if ((query.client ?? '') !== '' && keyIn(call.gateway, call.client) !== query.client) return false;
    if (query.failed === 'yes' && toneOf(call) !== 'failed') return false;
    if (words.length === 0) return true;
    const text =
      `${call.name ?? ''} ${call.subtool ?? ''} ${call.server ?? ''} ${call.method} ${call.outcome ?? 'running'} ${call.clientName ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
