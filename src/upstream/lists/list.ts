import { SwitchboardError } from '../../shared/errors.ts';
import { quoted } from '../../shared/printable.ts';
import type { Logger } from '../../shared/log.ts';
import type { Listing } from '../../gateway/index.ts';
import { LIST_KINDS, Server, type JsonObject, type ListKind } from '../../protocol/index.ts';
import { jsonItems, memberText, RpcCode, type Message } from '../../wire/index.ts';
import { Collector, MAX_COMPONENTS, MAX_ENTRIES, type Screen } from './collector.ts';
import { errorCode, errorText } from '../error-answer.ts';

/** Bounds on what one server may make us collect. */
const MAX_PAGES = 100;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_MS = 10_000;

export interface ListRequester {
  ask(method: string, params?: JsonObject): Promise<Message>;
  /** Hides what must not be shown in what the server says. */
  mask(text: string): string;
}

/** Everything of one kind that a server has, page by page to the end, or to a bound. */
export async function listAll(
  requester: ListRequester,
  kind: ListKind,
  server: string,
  log: Logger,
  screen?: Screen,
): Promise<Listing> {
  const { method, member } = LIST_KINDS[kind];
  const collector = new Collector(kind, screen);
  const { components, byKey } = collector;
  const started = performance.now();
  let bytes = 0;
  let cursor: string | undefined;
  /** Of all pages; a page that does not say makes it unknown. */
  let shortest: number | undefined = Infinity;
  for (let page = 1; ; page++) {
    const answer = await requester.ask(method, cursor === undefined ? undefined : { cursor });
    bytes += answer.length;
    const { items, next, ttlMs } = readPage(answer, kind, server, (text) => requester.mask(text));
    shortest = ttlMs === undefined || shortest === undefined ? undefined : Math.min(shortest, ttlMs);
    collector.add(items);
    const collected = { pages: page, bytes, ms: performance.now() - started };
    const reason =
      overflow(items.length, components.length, next, member) ?? (next && whyNoMore(next, cursor, collected));
    if (reason === undefined && next !== undefined) {
      cursor = next;
      continue;
    }
    collector.logProblems(log, server);
    if (reason !== undefined) log.warn(`incomplete list of ${member}`, { server, reason });
    return { components, byKey, incomplete: reason, ttlMs: shortest };
  }
}

function overflow(
  onPage: number,
  kept: number,
  next: string | undefined,
  member: string,
): string | undefined {
  const more = next !== undefined || onPage > MAX_COMPONENTS;
  return onPage > MAX_ENTRIES || (kept === MAX_COMPONENTS && more)
    ? `only its first ${MAX_COMPONENTS} ${member} are used.`
    : undefined;
}

function whyNoMore(
  next: string,
  cursor: string | undefined,
  collected: { readonly pages: number; readonly bytes: number; readonly ms: number },
): string | undefined {
  if (next === cursor) return 'its list repeats the same page.';
  if (collected.pages >= MAX_PAGES) return `its list has more than ${MAX_PAGES} pages.`;
  if (collected.bytes > MAX_BYTES) return `its list is larger than ${MAX_BYTES} bytes.`;
  if (collected.ms > MAX_MS) return `its list was not complete after ${MAX_MS / 1000} s.`;
  return undefined;
}

function readPage(
  answer: Message,
  kind: ListKind,
  server: string,
  mask: (text: string) => string,
): { items: readonly string[]; next: string | undefined; ttlMs?: number | undefined } {
  const { method, member } = LIST_KINDS[kind];
  if (answer.has(Server.error)) {
    // A server without any need not know the method, whatever it declared.
    if (errorCode(answer) === RpcCode.methodNotFound) return { items: [], next: undefined };
    const said = mask(errorText(answer));
    throw new SwitchboardError(
      'LIST_FAILED',
      `Server '${server}' could not list its ${member}: ${quoted(said)}.`,
    );
  }
  const result = answer.text(Server.result);
  const list = result?.startsWith('{') === true ? memberText(result, member) : undefined;
  if (result === undefined || list?.startsWith('[') !== true) {
    throw new SwitchboardError(
      'LIST_FAILED',
      `Server '${server}' did not respond to ${method} with a list of ${member}.`,
    );
  }
  const cursor = memberText(result, 'nextCursor');
  const next: unknown = cursor === undefined ? undefined : JSON.parse(cursor);
  const kept = memberText(result, 'ttlMs');
  const ttlMs = kept === undefined ? undefined : Math.max(Number(kept) || 0, 0);
  return { items: jsonItems(list), next: typeof next === 'string' && next !== '' ? next : undefined, ttlMs };
}
