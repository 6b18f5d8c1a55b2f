import type { ComponentChildren } from 'preact';
import { formatDuration } from '../parts/format.ts';
import { now } from '../state/clock.ts';
import { connectionState, retryNow } from '../state/connect.ts';

const TITLES = { connecting: 'Connecting…', open: 'Live', lost: 'Not connected', unauthorized: 'Logged out' };

/** Whether the page shows the current state. */
export function ConnectionStatus(): ComponentChildren {
  const state = connectionState.value;
  const title = TITLES[state.kind];
  return (
    <div class={`connection connection-${state.kind}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{title}</span>
      {state.kind === 'lost' ? (
        <>
          <span class="connection-since">for {formatDuration(now.value - state.since)}</span>
          <button type="button" class="link-button" onClick={retryNow}>
            Retry now
          </button>
        </>
      ) : null}
    </div>
  );
}
