import type { StopReport } from '../../process/index.ts';
import type { OnEvent } from './events.ts';
import type { ServiceRecord } from '../state/records.ts';
import { serviceProcesses, type Observed } from './observe.ts';

export interface Stopped {
  readonly observed: Observed;
  /** Whether nobody of it lives any more. */
  readonly gone: boolean;
  readonly message: string;
}

export interface StopOptions {
  readonly onEvent?: OnEvent | undefined;
  /** What a service is called in messages. Default its name. */
  readonly nameOf?: (record: ServiceRecord) => string;
}

/** Ends these services, all at the same time. Only who is proven to belong to them is signalled. */
export async function stopServices(
  running: readonly Observed[],
  { onEvent, nameOf = ({ service }) => service }: StopOptions = {},
): Promise<readonly Stopped[]> {
  for (const { record } of running) {
    const { service, branch } = record;
    onEvent?.({ kind: 'stopping', service, branch, text: `stopping ${nameOf(record)}` });
  }
  const targets = running.map(({ mark, record }) => ({ ...mark, name: record.service }));
  const reports = await serviceProcesses().stop(targets);
  return running.map((observed, index) => {
    const { service, branch } = observed.record;
    const report = reports[index]!;
    const gone = report.kind === 'gone';
    const message = tellReport(nameOf(observed.record), report);
    onEvent?.({ kind: gone ? 'stopped' : 'failed', service, branch, text: message });
    return { observed, gone, message };
  });
}

function tellReport(name: string, report: StopReport): string {
  if (report.kind === 'left') {
    const pids = report.survivors.map(({ pid }) => pid).join(', ');
    return `could not stop ${name}: pid ${pids} ${report.survivors.length === 1 ? 'is' : 'are'} left`;
  }
  return report.by === 'kill' ? `${name} ignored SIGTERM and was killed` : `stopped ${name}`;
}
