import type { ComponentChildren } from 'preact';
import type { Problem, ServerInfo, ServerInfoState } from '../../../protocol.ts';
import { formatDuration } from '../../parts/format.ts';
import { now } from '../../state/clock.ts';

const STATE_TITLES: Readonly<Record<ServerInfoState['kind'], string>> = {
  disabled: 'Disabled',
  idle: 'Idle',
  starting: 'Starting',
  running: 'Running',
  failed: 'Failed',
  'needs-login': 'Needs a login',
  unusable: 'Not usable',
  stopped: 'Stopped',
};

/** States that need attention come first. */
const STATE_ORDER: readonly ServerInfoState['kind'][] = [
  'failed',
  'needs-login',
  'unusable',
  'starting',
  'running',
  'idle',
  'stopped',
  'disabled',
];

export const stateRank = (server: ServerInfo): number => STATE_ORDER.indexOf(server.state.kind);

export function StateMark({ state }: { state: ServerInfoState }): ComponentChildren {
  const problem = stateProblem(state);
  const tone = state.kind === 'running' && problem !== null ? 'warn' : state.kind;
  return (
    <span class={`state state-${tone}`} title={problem?.message}>
      <span class="dot" aria-hidden="true" />
      <span>{STATE_TITLES[state.kind]}</span>
      {state.kind === 'starting' && state.since !== null ? (
        <span class="state-seconds">{formatDuration(now.value - state.since)}</span>
      ) : null}
    </span>
  );
}

export const stateProblem = (state: ServerInfoState): Problem | null =>
  'problem' in state ? state.problem : null;

/** How long it has been running; null if it is not. */
export const uptimeOf = ({ state }: ServerInfo): number | null =>
  state.kind === 'running' ? now.value - state.since : null;
