import { existsSync, readdirSync } from 'node:fs';
import { describeProcess, processStatus, type ProcessSnapshot } from '../../../process/index.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { State } from '../../records/state/records.ts';
import { readLease } from '../../runtime/ports/lease.ts';
import { observeServices, serviceProcesses, type Observed } from '../../runtime/processes/observe.ts';
import { observeCheckouts } from '../checkout/observe.ts';
import type { Finding } from './finding.ts';

/** Compares the records with what exists. */
export function examineRecords(context: YardContext): readonly Finding[] {
  const { registry, config } = context;
  const state = registry.read();
  const { warnings } = registry;
  const snapshot = serviceProcesses().look();
  const observed = observeServices(Object.values(state.projects[config.root]?.services ?? {}), snapshot);
  return [
    ...warnings.map((what) => examineState(what, state)),
    ...observed.flatMap(examineService),
    ...observeCheckouts(context)
      .filter(({ status }) => status === 'stale')
      .map(({ service, branch, listen_port }): Finding => ({
        level: 'warning',
        what: `${service} of ${branch} is checked out, but nothing forwards port ${listen_port}.`,
        next: `Run \`switchyard checkout ${shellWord(branch)} ${service}\` again, or \`switchyard uncheckout ${service} --branch ${shellWord(branch)}\`.`,
      })),
    // A damaged state knows no processes; the next change finds them all.
    ...(warnings.length > 0 ? [] : examineStrays(context, state, snapshot)),
    ...examineLeases(context, state, snapshot),
  ];
}

function examineState(what: string, state: State): Finding {
  // A state of a newer version is never written, so nothing can be started.
  if (state.version > 1) return { level: 'error', what, next: 'Update Switchyard, or set SWITCHYARD_HOME.' };
  const next = 'Nothing to do: the next command that writes moves the file away and rebuilds it.';
  return { level: 'warning', what, next };
}

function examineService({ record, status }: Observed): readonly Finding[] {
  const { service, branch, worktree, pid } = record;
  const name = `${service} of ${branch}`;
  if (status === 'stale') {
    const what = `${name} was started, but is no longer running.`;
    const next =
      `\`switchyard logs ${service} --branch ${shellWord(branch)}\` shows why; ` +
      `\`switchyard down ${service} --branch ${shellWord(branch)}\` forgets it.`;
    return [{ level: 'warning', what, next }];
  }
  if (status === 'unverified') {
    const what = `Pid ${pid ?? 'unknown'} may be ${name}, but nothing proves it, so it is never signalled.`;
    const next = `Check the process, end it yourself if it is the service, and run \`switchyard down ${service} --branch ${shellWord(branch)}\`.`;
    return [{ level: 'warning', what, next }];
  }
  if (existsSync(worktree)) return [];
  const what = `${name} runs in a directory that was deleted: ${worktree}.`;
  return [{ level: 'warning', what, next: `Run \`switchyard down --branch ${shellWord(branch)}\`.` }];
}

/** Processes that carry a cookie of this home but are not in the records. */
function examineStrays({ home }: YardContext, state: State, snapshot: ProcessSnapshot): readonly Finding[] {
  const known = cookiesOf(state);
  return [...snapshot.carriers()]
    .filter(([cookie]) => cookie.startsWith(`${home.hash}.`) && !known.has(cookie))
    .flatMap(([, members]) => members)
    .map(({ pid }) => ({
      level: 'warning',
      what: `Pid ${pid} (${describeProcess(pid)?.command ?? 'unknown'}) was started here, but is not in the records.`,
      next: `End it yourself if it is not needed: \`kill ${pid}\`.`,
    }));
}

function examineLeases({ home }: YardContext, state: State, snapshot: ProcessSnapshot): readonly Finding[] {
  const known = cookiesOf(state);
  const ports = existsSync(home.ports) ? readdirSync(home.ports).map(Number).filter(Number.isInteger) : [];
  const abandoned = ports.filter((port) => {
    const lease = readLease(home, port);
    if (lease === undefined || lease === 'broken') return lease === 'broken';
    return (
      processStatus(lease.holder) === 'gone' &&
      !known.has(lease.cookie) &&
      !snapshot.carriers().has(lease.cookie)
    );
  });
  if (abandoned.length === 0) return [];
  const what = `Unused leased ports: ${abandoned.sort((a, b) => a - b).join(', ')}.`;
  return [{ level: 'note', what, next: 'Nothing to do: they are reused when needed.' }];
}

/** The cookies of the services of all projects. */
function cookiesOf(state: State): ReadonlySet<string | undefined> {
  const projects = Object.values(state.projects);
  return new Set(projects.flatMap(({ services }) => Object.values(services).map(({ cookie }) => cookie)));
}
