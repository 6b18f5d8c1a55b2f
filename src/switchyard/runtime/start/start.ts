import { SwitchboardError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { ProfileDefinition, ServiceDefinition } from '../../records/config/definition.ts';
import { serviceKey } from '../../records/names.ts';
import type { BranchLocation } from '../../records/project/branch.ts';
import { claimName, type YardContext } from '../../records/project/context.ts';
import { withProjectLock } from '../../records/state/project-lock.ts';
import type { OnEvent, YardEvent } from '../events.ts';
import type { Observed } from '../processes/observe.ts';
import { awaitReady, type StartedService } from '../readiness/ready.ts';
import { reconcile } from '../services/reconcile.ts';
import { explainTrouble, explainUnverified } from './explain.ts';
import { explainFailure, launchServices, type Launched } from './launch.ts';
import { factsOf, isGood, notStarted, type ServiceOutcome } from './outcome.ts';
import { runningPeer, type PeerService } from './peers.ts';
import { prepareService, serviceUrl } from './prepare.ts';
import { releaseReservation, reserve, type Reservation } from './reserve.ts';

export interface StartPlan {
  readonly context: YardContext;
  readonly location: BranchLocation;
  /** As returned by `levelsOf`. */
  readonly levels: readonly (readonly ServiceDefinition[])[];
  readonly profileOf: (service: string) => ProfileDefinition | undefined;
  /** Describes the work to commands that wait for the lock of the project, for example `up main`. */
  readonly what: string;
  /** Whether to wait for services that no other service depends on. */
  readonly wait: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: OnEvent | undefined;
  /** Runs under the lock of the project, before anything is reserved. */
  readonly before?: () => Promise<void>;
  /** Awaited before anything is started; if it fails, nothing is. */
  readonly proxy: Promise<unknown>;
}

/** The progress of one start. */
interface StartState extends StartPlan {
  readonly outcomes: Map<string, ServiceOutcome>;
  /** By key; without those that have a process by now. */
  readonly reserved: Map<string, Reservation>;
}

/** A running service that may have to be waited for. */
interface Running extends StartedService {
  readonly definition: ServiceDefinition;
  readonly notes: readonly string[];
}

/**
 * Starts services level by level, those of one level together. Services that already run are left alone, and waited for
 * like the others.
 *
 * The lock of the project is held while a level is being started, not while it becomes ready: that may take minutes,
 * and meanwhile another command must be able to stop a service that hangs, or to start another branch. So each level
 * checks again what runs. Another command may have started a part of it in the meantime; if one has stopped a
 * dependency, we have seen it end.
 */
export async function startServices(plan: StartPlan): Promise<readonly ServiceOutcome[]> {
  const state: StartState = {
    ...plan,
    outcomes: new Map(),
    reserved: new Map(),
  };
  try {
    for (const level of plan.levels) await startLevel(state, level);
  } finally {
    for (const reservation of state.reserved.values()) releaseReservation(plan.context, reservation);
  }
  const order = plan.context.config.services.map(({ name }) => name);
  return [...state.outcomes.values()].sort((a, b) => order.indexOf(a.service) - order.indexOf(b.service));
}

async function startLevel(state: StartState, level: readonly ServiceDefinition[]): Promise<void> {
  const due = level.filter((definition) => {
    const obstacle = obstacleOf(state, definition);
    if (obstacle !== undefined) note(state, obstacle);
    return obstacle === undefined;
  });
  if (due.length === 0) return;
  const { context, what, signal, onEvent } = state;
  const start = (): Promise<readonly Running[]> => startUnderLock(state, due);
  try {
    const running = await withProjectLock(context, { what, onEvent, signal }, start);
    await Promise.all(running.map(async (each) => note(state, await awaitOutcome(state, each))));
  } catch (error) {
    // The outcomes of earlier levels matter more than the error that we were stopped.
    if (signal?.aborted !== true || state.outcomes.size === 0) throw error;
    for (const { name } of due)
      note(state, notStarted(name, `${name} was not started: the command was stopped`));
  }
}

/** Why a service cannot be started now; undefined if it can. */
function obstacleOf(
  { outcomes, signal }: StartState,
  { name, dependsOn }: ServiceDefinition,
): ServiceOutcome | undefined {
  const missing = dependsOn.filter((dependency) => {
    const outcome = outcomes.get(dependency);
    return outcome === undefined || !isGood(outcome);
  });
  const verb = missing.length === 1 ? 'is' : 'are';
  if (missing.length > 0) {
    return notStarted(
      name,
      `${name} was not started: it depends on ${missing.join(', ')}, which ${verb} not ready`,
    );
  }
  return signal?.aborted === true
    ? notStarted(name, `${name} was not started: the command was stopped`)
    : undefined;
}

async function startUnderLock(
  state: StartState,
  due: readonly ServiceDefinition[],
): Promise<readonly Running[]> {
  const { location, levels, reserved } = state;
  const isFirst = due.some((definition) => levels[0]?.includes(definition));
  if (isFirst && state.before !== undefined) {
    // Services stopped for a restart must not stay stopped because of the proxy.
    await state.proxy;
    await state.before();
  }
  const context = await claimName(state.context);
  const observed = (await reconcile(context)).filter(({ record }) => record.branch_slug === location.slug);
  if (isFirst) refuseCollision(observed, location);
  const alive = new Map(
    observed.filter(({ status }) => status !== 'stale').map((each) => [each.record.service, each]),
  );
  const key = ({ name }: ServiceDefinition): string => serviceKey(location.branch, name);

  // For all levels together: a command may contain the port of a service that starts later.
  const absent = (isFirst ? levels.flat() : due).filter(({ name }) => !alive.has(name)).map(key);
  const missing = absent.filter((each) => !reserved.has(each));
  for (const [each, reservation] of await reserve(context, missing)) reserved.set(each, reservation);

  const starting = due.filter(({ name }) => !alive.has(name));
  const peers = starting.length === 0 ? [] : await peersOf({ ...state, context }, [...alive.values()]);
  const inherited = { ...context.env };
  const prepared = starting.map((definition) => {
    const reservation = reserved.get(key(definition));
    if (reservation === undefined) throw new Error(`${definition.name} has no reserved port.`);
    const profile = state.profileOf(definition.name);
    return prepareService(definition, { context, location, profile, reservation, inherited, peers });
  });
  // Awaited only here: the check of the proxy takes as long as everything above, and runs in parallel.
  await state.proxy;
  for (const { record } of prepared) {
    emit(state, 'starting', record.service, `starting ${record.service} on :${record.port}`);
  }
  const launched = await launchServices(context, prepared);
  for (const { definition } of prepared) reserved.delete(key(definition));
  return [
    ...due.flatMap((definition) => alreadyRunning(state, definition, alive.get(definition.name))),
    ...launched.flatMap((each) => newlyStarted(state, each)),
  ];
}

function alreadyRunning(
  state: StartState,
  definition: ServiceDefinition,
  found: Observed | undefined,
): readonly Running[] {
  if (found?.status === 'running')
    return [{ definition, record: found.record, exited: undefined, notes: [] }];
  if (found !== undefined) note(state, explainUnverified(found));
  return [];
}

function newlyStarted(state: StartState, launched: Launched): readonly Running[] {
  const { definition, unknown } = launched.prepared;
  if (launched.kind === 'started') return [{ definition, ...launched, notes: notesOf(unknown) }];
  note(state, explainFailure(launched));
  return [];
}

/** Delay before reporting the wait for a service that ran before, in milliseconds. Most are ready immediately. */
const SILENCE = 300;

/** Waits until the outcome of a running service is final. */
async function awaitOutcome(state: StartState, running: Running): Promise<ServiceOutcome> {
  const { definition, record, exited, notes } = running;
  const ours = exited !== undefined;
  const good: ServiceOutcome = {
    ...factsOf(record),
    result: ours ? 'started' : 'already-running',
    message: ours
      ? `started ${record.service} on :${record.port} -> ${record.url}`
      : `${record.service} already running at ${record.url}`,
    details: notes,
  };
  if (!isWaitedFor(state, definition)) return good;
  // The start of our own services was reported; the wait for one that already ran was not.
  const reportWait = (): void =>
    emit(state, 'starting', record.service, `waiting for ${record.service} on :${record.port}`);
  const pause = ours ? undefined : setTimeout(reportWait, SILENCE);
  const readiness = await awaitReady(running, {
    definition,
    signal: state.signal,
  }).finally(() => clearTimeout(pause));
  if (readiness.kind === 'aborted') {
    return {
      ...good,
      message: `stopped waiting for ${record.service}; it continues to start at ${record.url}`,
    };
  }
  if (readiness.kind === 'ready') return ours ? { ...good, result: 'ready' } : good;
  return explainTrouble(state.context, record, readiness, definition.readyTimeout);
}

/** Services that others depend on are always waited for. */
function isWaitedFor({ wait, levels }: StartState, { name, readyTimeout }: ServiceDefinition): boolean {
  if (readyTimeout === 0) return false;
  return wait || levels.flat().some(({ dependsOn }) => dependsOn.includes(name));
}

async function peersOf(state: StartState, alive: readonly Observed[]): Promise<readonly PeerService[]> {
  const running = await Promise.all(alive.map(({ record }) => runningPeer(record)));
  const coming = state.levels.flat().flatMap(({ name, host }): PeerService[] => {
    const reservation = state.reserved.get(serviceKey(state.location.branch, name));
    if (reservation === undefined || running.some(({ service }) => service === name)) return [];
    return [{ service: name, host, port: reservation.port, publicUrl: serviceUrl(state, name) }];
  });
  return [...running, ...coming];
}

function notesOf(unknown: readonly string[]): readonly string[] {
  return unknown.map((text) => `${text} in its command is not a known placeholder and was left unchanged`);
}

/** Both would have the same key and the same address. */
function refuseCollision(observed: readonly Observed[], { branch }: BranchLocation): void {
  const other = observed.find(({ record, status }) => record.branch !== branch && status !== 'stale');
  if (other === undefined) return;
  throw new SwitchboardError(
    'BRANCH_COLLISION',
    `Branch names collide after slugging: ${other.record.branch} and ${branch}.`,
    { hint: `Stop the other one first: \`switchyard down --branch ${shellWord(other.record.branch)}\`.` },
  );
}

function note(state: StartState, outcome: ServiceOutcome): void {
  state.outcomes.set(outcome.service, outcome);
  const kind = !isGood(outcome) ? 'failed' : outcome.result === 'ready' ? 'ready' : 'running';
  emit(state, kind, outcome.service, outcome.message);
}

type ServiceEventKind = Exclude<YardEvent['kind'], 'waiting' | 'proxy'>;

function emit(
  { onEvent, location }: StartState,
  kind: ServiceEventKind,
  service: string,
  text: string,
): void {
  onEvent?.({ kind, service, branch: location.branch, text });
}
