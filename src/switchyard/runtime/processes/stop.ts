import type { StopReport, TreeIdentity } from '../../../process/index.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import type { OnEvent } from '../events.ts';
import { serviceProcesses, type Observed } from './observe.ts';

export interface Stopped {
  readonly observed: Observed;
  /** `killed`: SIGKILL was necessary; `left`: a process of it still runs. */
  readonly result: 'stopped' | 'killed' | 'left';
  /** How long that took. */
  readonly milliseconds: number;
  readonly message: string;
}

export interface StopOptions {
  readonly onEvent?: OnEvent | undefined;
  /** The name of a service in messages. Default: its name. */
  readonly nameOf?: (record: ServiceRecord) => string;
}

/** Stops these services in parallel. Signals only processes that are proven to belong to them. */
export async function stopServices(
  running: readonly Observed[],
  { onEvent, nameOf = ({ service }) => service }: StopOptions = {},
): Promise<readonly Stopped[]> {
  for (const { record } of running) {
    const { service, branch } = record;
    onEvent?.({ kind: 'stopping', service, branch, text: `stopping ${nameOf(record)}` });
  }
  return Promise.all(
    running.map(async (observed) => {
      const { tree, record } = observed;
      const { service, branch } = record;
      const report = await stopTree({ ...tree, name: service });
      const { kind, milliseconds } = report;
      const message = tellReport(nameOf(record), report);
      onEvent?.({ kind: kind === 'gone' ? 'stopped' : 'failed', service, branch, text: message });
      return { observed, result: resultOf(report), milliseconds: Math.round(milliseconds), message };
    }),
  );
}

async function stopTree(tree: TreeIdentity & { readonly name: string }): Promise<StopReport> {
  const [report] = await serviceProcesses().stop([tree]);
  if (report === undefined) throw new Error('There is a report for each tree.');
  return report;
}

function resultOf(report: StopReport): Stopped['result'] {
  if (report.kind === 'left') return 'left';
  return report.by === 'kill' ? 'killed' : 'stopped';
}

function tellReport(name: string, report: StopReport): string {
  if (report.kind === 'left') {
    const pids = report.survivors.map(({ pid }) => pid).join(', ');
    return `could not stop ${name}: pid ${pids} ${report.survivors.length === 1 ? 'is' : 'are'} left`;
  }
  return report.by === 'kill' ? `${name} ignored SIGTERM and was killed` : `stopped ${name}`;
}
