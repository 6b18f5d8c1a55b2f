import type { ServiceStatus, YardStatus } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Style } from '../../kit/style.ts';
import { ruledTable } from '../../kit/table.ts';
import { painted } from './painted.ts';

/** The services as a table, then the checked-out ports, then the proxy. */
export function statusLines(found: YardStatus, style: Style): readonly string[] {
  const { services, checkouts, proxy } = found;
  if (services.length === 0 && checkouts.length === 0) return [NOTHING];
  const lines = checkouts.map((checkout) => checkoutLine(checkout, style));
  return [
    ...(services.length === 0 ? [NOTHING] : serviceLines(services, style)),
    ...(lines.length === 0 ? [] : ['', style.bold('checked out:'), ...lines]),
    '',
    proxyLine(proxy, style),
  ];
}

const NOTHING = 'no services registered';

/** `status branch service port url pid`, and a note if there is one. */
export function serviceLines(services: readonly ServiceStatus[], style: Style): readonly string[] {
  const rows = services.map(({ state, branch, service, port, url, pid, note }) => [
    painted(state, style),
    printableLine(branch),
    printableLine(service),
    String(port),
    printableLine(url),
    String(pid ?? '-'),
    printableLine(note ?? ''),
  ]);
  const noted = services.some(({ note }) => note !== undefined);
  const titles = ['status', 'branch', 'service', 'port', 'url', 'pid', ...(noted ? ['note'] : [])];
  return ruledTable(titles, rows, style.columns);
}

function checkoutLine(checkout: YardStatus['checkouts'][number], style: Style): string {
  const { service, branch, status, service_state: state, listen_host, listen_port } = checkout;
  const route = `${listen_host}:${listen_port} -> ${service} of ${branch}`;
  if (status === 'running')
    return `${printableLine(route)} [${state === null ? style.caution('unknown') : painted(state, style)}]`;
  const next = `\`switchyard checkout ${shellWord(branch)} ${shellWord(service)}\` restores it`;
  return `${printableLine(route)} [${style.bad('no forwarder')}]: nothing forwards this port; ${printableLine(next)}`;
}

function proxyLine({ status, host, port, note }: YardStatus['proxy'], style: Style): string {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const shown = status === 'running' ? style.good(status) : style.caution(status);
  return `proxy: ${shown} on ${address}${note === undefined ? '' : `. ${printableLine(note)}`}`;
}
