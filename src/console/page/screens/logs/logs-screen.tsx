import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { LogLine } from '../../../protocol.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { SearchField, Select } from '../../parts/fields.tsx';
import { formatCount, formatDate, formatTimeMs } from '../../parts/format.ts';
import { Detail, Fact, Facts, Split, Toolbar } from '../../parts/layout.tsx';
import { EmptyState } from '../../parts/notice.tsx';
import { VirtualList, type ListColumn } from '../../parts/virtual-list.tsx';
import { act } from '../../state/act.ts';
import { chosenGateway, gatewayTitle, isChosen } from '../../state/gateway-choice.ts';
import { leftOut, lineKey, logLines, serverList } from '../../state/live.ts';
import { tell } from '../../state/messages.ts';
import { changeQuery, hrefOf, route } from '../../state/route.ts';

const COLUMNS: readonly ListColumn<LogLine>[] = [
  { id: 'time', title: 'Time', cell: ({ at }) => <time>{formatTimeMs(at)}</time> },
  {
    id: 'level',
    title: 'Level',
    cell: ({ level }) => <span class={`level level-${level ?? 'none'}`}>{level ?? ''}</span>,
  },
  { id: 'server', title: 'From', cell: ({ server }) => server ?? <span class="muted">gateway</span> },
  { id: 'text', title: 'Text', cell: ({ text }) => <span class="code">{text}</span> },
];

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** Represents the gateway itself among the names of servers. */
const GATEWAY_ITSELF = '(gateway)';
const MOST_FOUND = 1_000;

export function LogsScreen(): ComponentChildren {
  const { query } = route.value;
  const [selected, setSelected] = useState<LogLine | null>(null);
  const [older, setOlder] = useState<{ readonly key: string; readonly lines: readonly LogLine[] } | null>(
    null,
  );
  const key = JSON.stringify([query.find, query.server, chosenGateway.value]);
  useEffect(() => setOlder(null), [key]);
  const all = useMemo(
    () => (older === null ? logLines.value : joined(older.lines, logLines.value)),
    [older, logLines.value],
  );
  const shown = useMemo(
    () => all.filter(matching(query)),
    [all, query.find, query.server, query.level, query.gateway, chosenGateway.value],
  );
  const findOlder = async (): Promise<void> => {
    const response = await act('logs.search', {
      ...(chosenGateway.value === '' ? {} : { gateway: chosenGateway.value }),
      ...((query.server ?? '') === ''
        ? {}
        : { server: query.server === GATEWAY_ITSELF ? null : (query.server ?? '') }),
      ...((query.find ?? '') === '' ? {} : { text: query.find ?? '' }),
      limit: MOST_FOUND,
    });
    if (!response.ok) {
      tell('Older lines could not be searched', response.error);
      return;
    }
    setOlder({ key, lines: response.result.lines });
  };
  return (
    <Split
      detail={selected === null ? null : <LineDetail line={selected} onClose={() => setSelected(null)} />}
    >
      <Toolbar>
        <SearchField
          label="Find in the log"
          value={query.find ?? ''}
          onInput={(find) => changeQuery({ find })}
        />
        <Select
          label="From"
          value={query.server ?? ''}
          options={[
            { value: '', title: 'Gateways and servers' },
            { value: GATEWAY_ITSELF, title: 'Gateways only' },
            ...[
              ...new Set(serverList.value.filter(({ gateway }) => isChosen(gateway)).map(({ name }) => name)),
            ].map((name) => ({ value: name, title: name })),
          ]}
          onChange={(server) => changeQuery({ server })}
        />
        <Select
          label="Level"
          value={query.level ?? ''}
          options={[
            { value: '', title: 'All levels' },
            ...LEVELS.map((level) => ({
              value: level,
              title: level === 'error' ? 'error' : `${level} and above`,
            })),
          ]}
          onChange={(level) => changeQuery({ level })}
        />
        <span class="grow" />
        <span class="summary" role="status">
          {shown.length === all.length ? '' : `${formatCount(shown.length)} of `}
          {formatCount(all.length)} lines
          {leftOut.value.lines > 0 ? `, ${formatCount(leftOut.value.lines)} not shown` : ''}
        </span>
        <Button icon="search" disabled={older !== null} onClick={findOlder}>
          Search older
        </Button>
      </Toolbar>
      {shown.length === 0 ? (
        <NoLines filtered={all.length > 0} />
      ) : (
        <VirtualList
          label="Log"
          name="log"
          items={shown}
          itemKey={lineKey}
          columns={COLUMNS}
          rowHeight={24}
          follow
          selected={selected === null ? null : lineKey(selected)}
          onSelect={setSelected}
          rowClass={({ level }) => `line-${level ?? 'none'}`}
        />
      )}
    </Split>
  );
}

const NoLines = ({ filtered }: { filtered: boolean }): ComponentChildren =>
  filtered ? (
    <EmptyState title="No matching lines">
      <p>“Search older” searches lines from before you opened this page.</p>
      <Button
        onClick={() =>
          changeQuery({ find: undefined, server: undefined, level: undefined, gateway: undefined })
        }
      >
        Show all lines
      </Button>
    </EmptyState>
  ) : (
    <EmptyState title="No log lines yet">
      <p>The logs of gateways and the stderr output of servers appear here.</p>
    </EmptyState>
  );

function LineDetail({ line, onClose }: { line: LogLine; onClose: () => void }): ComponentChildren {
  return (
    <Detail
      label="Log line"
      title={line.server ?? 'Gateway'}
      onClose={onClose}
      actions={
        line.server === null ? undefined : (
          <a class="button" href={hrefOf('servers', [line.gateway, line.server])}>
            Show the server
          </a>
        )
      }
    >
      <Facts>
        <Fact name="Time">{formatDate(line.at)}</Fact>
        <Fact name="Level">{line.level ?? '—'}</Fact>
        <Fact name="Gateway">{gatewayTitle(line.gateway)}</Fact>
      </Facts>
      <div class="line-copy">
        <code class="line-text">{line.text}</code>
        <CopyButton text={line.text} />
      </div>
    </Detail>
  );
}

function joined(older: readonly LogLine[], known: readonly LogLine[]): readonly LogLine[] {
  const keys = new Set(known.map(lineKey));
  const more = older.filter((line) => !keys.has(lineKey(line)));
  return [...more, ...known].sort((a, b) => a.at - b.at || a.seq - b.seq);
}

function matching(query: Readonly<Record<string, string>>): (line: LogLine) => boolean {
  const text = (query.find ?? '').toLowerCase();
  const least = LEVELS.findIndex((level) => level === query.level);
  const { server = '', gateway = '' } = query;
  return (line) =>
    isChosen(line.gateway) &&
    (gateway === '' || line.gateway === gateway) &&
    (server === '' || (server === GATEWAY_ITSELF ? line.server === null : line.server === server)) &&
    (least <= 0 || (line.level !== null && LEVELS.indexOf(line.level) >= least)) &&
    (text === '' || line.text.toLowerCase().includes(text));
}
