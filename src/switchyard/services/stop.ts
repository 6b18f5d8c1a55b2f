import type { StopReport } from '../../process/index.ts';
import type { OnEvent } from './events.ts';
import { serviceProcesses, type Observed } from './observe.ts';

export interface Stopped {
  readonly observed: Observed;
  /** Whether nobody of it lives any more. */
  readonly gone: boolean;
  readonly message: string;
}

/** Ends these services, all at the same time. Only who is proven to belong to them is signalled. */
export async function stopServices(
  running: readonly Observed[],
  onEvent?: OnEvent,
): Promise<readonly Stopped[]> {
  for (const {
    record: { service, branch },
  } of running) {
    onEvent?.({ kind: 'stopping', service, branch, text: `stopping ${service}` });
  }
  const targets = running.map(({ mark, record }) => ({ ...mark, name: record.service }));
  const reports = await serviceProcesses().stop(targets);
  return running.map((observed, index) => {
    const { service, branch } = observed.record;
    const report = reports[index]!;
    const gone = report.kind === 'gone';
    const message = tellReport(service, report);
    onEvent?.({ kind: gone ? 'stopped' : 'failed', service, branch, text: message });
    return { observed, gone, message };
  });
}

function tellReport(service: string, report: StopReport): string {
  if (report.kind === 'left') {
    const pids = report.survivors.map(({ pid }) => pid).join(', ');
    return `could not stop ${service}: pid ${pids} ${report.survivors.length === 1 ? 'is' : 'are'} left`;
  }
  return report.by === 'kill' ? `${service} ignored SIGTERM and was killed` : `stopped ${service}`;
}
