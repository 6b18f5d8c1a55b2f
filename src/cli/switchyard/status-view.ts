import type { ServiceStatus } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { Style } from '../style.ts';
import { yardTable } from './yard-table.ts';

/** Services as a table: `status branch service port url pid`, and a note where there is something to say. */
export function statusLines(services: readonly ServiceStatus[], style: Style): readonly string[] {
  if (services.length === 0) return ['no services registered'];
  const notes = services.map(noteOf);
  const rows = services.map((service, at) => [
    painted(service.status, style),
    printableLine(service.branch),
    printableLine(service.service),
    String(service.port),
    printableLine(service.url),
    String(service.pid ?? '-'),
    notes[at]!,
  ]);
  const noted = notes.some((note) => note !== '');
  const titles = ['status', 'branch', 'service', 'port', 'url', 'pid', ...(noted ? ['note'] : [])];
  return yardTable(titles, rows, style.columns);
}

/** A word for how something is doing, in the colour of it. */
export function painted(status: string, style: Style): string {
  switch (status) {
    case 'running':
      return style.good(status);
    case 'stale':
      return style.bad(status);
    default:
      return style.caution(status);
  }
}

function noteOf({ status, ready, health, exit }: ServiceStatus): string {
  if (status === 'unverified') return 'cannot be told from a stranger, so it is left alone';
  if (exit !== undefined) return `ended with exit code ${exit.code}`;
  if (status === 'running' && ready === false) return 'does not listen yet';
  if (health === 'unhealthy') return 'unhealthy';
  return '';
}
