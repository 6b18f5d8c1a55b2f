import type { SwitchboardError } from '../../shared/errors.ts';
import type { ServerRun } from '../run/server-run.ts';
import type { ServerStart } from './server-start.ts';

/**
 * The state of a connection. Each kind contains what exists in that state:
 *
 *     idle, crashed → waiting → starting → running → idle, crashed
 *
 * A failed start leads from starting to crashed, a postponed one to idle. All states lead to stopped.
 */
export type ConnectionState =
  IdleState | CrashedState | WaitingState | StartingState | RunningState | StoppedState;

/** The server is not running. It starts when it is next needed. */
export interface IdleState {
  readonly kind: 'idle';
  /** Resolves when everything that must end before the start has ended, such as the previous process. */
  readonly leaving?: Promise<unknown> | undefined;
  /** When it may be started, on the performance clock. */
  readonly notBefore: number;
}

export interface CrashedState {
  readonly kind: 'crashed';
  readonly error: SwitchboardError;
  /** On the clock of Date.now. */
  readonly at: number;
  /** When it may be restarted, on the performance clock. */
  readonly notBefore: number;
}

/** The server is needed, and what prevents its start will pass soon. */
interface WaitingState {
  readonly kind: 'waiting';
  readonly before: IdleState | CrashedState;
  readonly start: ServerStart;
  readonly running: Promise<ServerRun>;
}

interface StartingState {
  readonly kind: 'starting';
  readonly start: ServerStart;
  readonly running: Promise<ServerRun>;
  /** When its turn to start came, on the performance clock; Infinity while it waits for that. */
  readonly admittedAt: number;
}

export interface RunningState {
  readonly kind: 'running';
  readonly run: ServerRun;
  readonly pid: number | undefined;
  /** On the clock of Date.now. */
  readonly since: number;
  /** Checks whether the server is still in use. */
  idleTimer: NodeJS.Timeout | undefined;
}

interface StoppedState {
  readonly kind: 'stopped';
  /** The error for calls that need the server. */
  readonly error: SwitchboardError;
  /** The run that finishes its last calls. */
  readonly run: ServerRun | undefined;
}
