import type { IncomingMessage } from 'node:http';
import { messageOf } from '../../../shared/errors.ts';
import { escapeHtml } from '../../../shared/escape-html.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { printableLine } from '../../../shared/printable.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import type { Routes } from './routes.ts';

/** Why a request is not forwarded, for people. */
export interface Refusal {
  readonly status: 400 | 501 | 502;
  readonly title: string;
  /** Paragraphs. */
  readonly lines: readonly string[];
  /** Commands to run. */
  readonly commands: readonly string[];
  /** Addresses that would work. */
  readonly links: readonly string[];
  /** Whether it may work soon without changes. */
  readonly again: boolean;
}

export interface RenderedRefusal {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** A longer list would not help. */
const MOST_LINKS = 50;

const PLAIN = { commands: [], links: [], again: false };

export function badRequest(why: string): Refusal {
  return { ...PLAIN, status: 400, title: 'Bad request', lines: [why] };
}

export function unknownEncoding(): Refusal {
  return {
    ...PLAIN,
    status: 501,
    title: 'Not implemented',
    lines: ['The only supported transfer encoding is chunked.'],
  };
}

export function failed(error: unknown): Refusal {
  return {
    ...PLAIN,
    status: 502,
    title: 'The proxy could not handle this request',
    lines: [messageOf(error)],
  };
}

/** No service with this name runs. Known services are listed only for requests to names of ours. */
export function noRoute(header: string | undefined, host: string | undefined, routes: Routes): Refusal {
  const own = host !== undefined && routes.isOwn(host);
  const expected = own ? routes.expected(host) : undefined;
  const text = `no route for Host: ${printableLine(header ?? '(none)').slice(0, 300)}`;
  const refusal: Refusal = {
    ...PLAIN,
    status: 502,
    title: text,
    lines: [],
    links: own ? routes.all().map((service) => service.url) : [],
  };
  if (expected === undefined) return refusal;
  const { service, branch, root, among } = expected;
  // Do not suggest starting a service that does not exist.
  if (among?.includes(service) === false) {
    const has = among.length === 0 ? 'It has none.' : `It has: ${among.join(', ')}.`;
    return { ...refusal, title: `${root} has no service ${service}`, lines: [text, has] };
  }
  return {
    ...refusal,
    title: `${service} of ${branch} is not running`,
    lines: [text, `Start it in ${root}:`],
    commands: [`sy up ${shellWord(branch)} ${service}`],
  };
}

export function notLoopback({ backend_host, service, branch }: ServiceRecord): Refusal {
  const why = `${service} of ${branch} is recorded on ${printableLine(backend_host)}; only loopback addresses are allowed.`;
  return { ...PLAIN, status: 502, title: 'refused non-loopback backend route', lines: [why] };
}

export function backendFailed(route: ServiceRecord, error: unknown): Refusal {
  const { service, branch, backend_host, port } = route;
  const cause = nodeErrorCode(error) ?? (error as Error).message;
  return {
    status: 502,
    title: `${service} of ${branch} does not respond on ${backend_host}:${port} (${printableLine(cause)})`,
    lines: [
      'It may still be starting, it may have exited, or it listens on a different port than it was given.',
    ],
    commands: [
      `sy status --branch ${shellWord(branch)}`,
      `sy logs ${service} --branch ${shellWord(branch)}`,
      `sy up ${shellWord(branch)} ${service}`,
    ],
    links: [],
    again: true,
  };
}

/** As text, or as HTML for clients that prefer it. */
export function render(refusal: Refusal, request: IncomingMessage): RenderedRefusal {
  const html = (request.headers.accept ?? '').includes('text/html');
  const body = Buffer.from(html ? page(refusal) : text(refusal));
  return {
    status: refusal.status,
    headers: [
      ...['Content-Type', html ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8'],
      ...['Content-Length', String(body.length)],
      ...['Cache-Control', 'no-store'],
    ],
    body,
  };
}

function text({ title, lines, commands, links }: Refusal): string {
  const known = links.slice(0, MOST_LINKS).map((link) => `  ${link}\n`);
  return [
    `${title}\n`,
    ...lines.map((line) => `${line}\n`),
    ...commands.map((command) => `  ${command}\n`),
    ...(known.length === 0 ? [] : ['Available:\n', ...known]),
  ].join('');
}

function page({ title, lines, commands, links, again }: Refusal): string {
  const known = links
    .slice(0, MOST_LINKS)
    .map((link) => `<li><a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`);
  return [
    '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    again ? '<meta http-equiv="refresh" content="3">' : '',
    `<title>${escapeHtml(title)}</title>`,
    '<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:4rem auto;padding:0 1rem;',
    'color-scheme:light dark}pre{padding:.8rem 1rem;border:1px solid #8886;border-radius:6px}</style>',
    `<h1 style="font-size:1.3rem">${escapeHtml(title)}</h1>`,
    ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
    commands.length === 0 ? '' : `<pre>${commands.map(escapeHtml).join('\n')}</pre>`,
    known.length === 0 ? '' : `<p>Available:</p><ul>${known.join('')}</ul>`,
    '\n',
  ].join('');
}
