import type { ComponentChildren } from 'preact';
import type { CallInfo } from '../../../protocol.ts';
import { formatDuration, formatMs, formatTime } from '../../parts/format.ts';
import { VirtualList, type ListColumn } from '../../parts/virtual-list.tsx';
import { now } from '../../state/clock.ts';
import { callKey } from '../../state/live.ts';
import { timedCalls, type TimedCall } from './bursts.ts';
import { callName, toneOf } from './call-text.ts';

interface TimeLineProps {
  readonly calls: readonly CallInfo[];
  readonly selected: string | null;
  readonly onSelect: (call: CallInfo) => void;
}

const COLUMNS: readonly ListColumn<TimedCall>[] = [
  {
    id: 'time',
    title: 'Time',
    cell: ({ call, pause }) => (
      <>
        <time>{formatTime(call.at)}</time>
        {pause === null ? null : <span class="pause">after {formatDuration(pause)}</span>}
      </>
    ),
  },
  {
    id: 'name',
    title: 'Tool',
    cell: ({ call }) => (
      <>
        <span class="strong">{callName(call)}</span> <span class="muted">{call.server ?? ''}</span>
      </>
    ),
  },
  {
    id: 'bar',
    title: 'Time within each burst of calls',
    cell: ({ call, from, to }) => (
      <span class="track">
        <span
          class={`track-bar track-${toneOf(call)}`}
          style={{ left: `${from * 100}%`, width: `max(3px, ${(to - from) * 100}%)` }}
        />
      </span>
    ),
  },
  { id: 'ms', title: 'Duration', align: 'end', cell: ({ call }) => formatMs(call.ms) },
];

/** The calls of one conversation, below each other, as bars over time. */
export function TimeLine({ calls, selected, onSelect }: TimeLineProps): ComponentChildren {
  const running = calls.some(({ ms }) => ms === null);
  const timed = timedCalls(calls, running ? now.value : 0);
  return (
    <VirtualList
      label="Timeline"
      name="time-line"
      items={timed}
      itemKey={({ call }) => callKey(call)}
      columns={COLUMNS}
      rowHeight={30}
      follow
      selected={selected}
      onSelect={({ call }) => onSelect(call)}
      rowClass={({ pause }) => (pause === null ? '' : 'after-pause')}
    />
  );
}
