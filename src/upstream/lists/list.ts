import { SwitchboardError } from '../../shared/errors.ts';
import { quoted } from '../../shared/printable.ts';
import type { Logger } from '../../shared/log.ts';
import { inLaterTurn, Turns } from '../../shared/turns.ts';
import type { Listing } from '../../gateway/index.ts';
import {
  LIST_KINDS,
  LIST_SHAPE,
  ListPage,
  Server,
  type JsonObject,
  type ListKind,
} from '../../protocol/index.ts';
import { jsonItems, MAX_PARSED, RpcCode, type Message } from '../../wire/index.ts';
import { Collector, MAX_COMPONENTS, MAX_ENTRIES, type Screen } from './collector.ts';
import { errorCode, errorText } from '../error-answer.ts';

/** Limits on what one server can make us collect. */
const MAX_PAGES = 100;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_MS = 10_000;

export interface ListRequester {
  ask(method: string, params?: JsonObject): Promise<Message>;
  /** Hides secrets in text from the server. */
  mask(text: string): string;
}

export interface ListOptions {
  /** The server's name. */
  readonly server: string;
  readonly log: Logger;
  /** Default: every item is used. */
  readonly screen?: Screen | undefined;
}

/** Everything of one kind that a server has, page by page, up to a limit. */
export async function listAll(
  requester: ListRequester,
  kind: ListKind,
  { server, log, screen }: ListOptions,
): Promise<Listing> {
  const { method, member } = LIST_KINDS[kind];
  const collector = new Collector(kind, screen);
  const { components, byKey } = collector;
  const started = performance.now();
  let bytes = 0;
  let cursor: string | undefined;
  /** The shortest value of all pages; a page without one makes it unknown. */
  let shortest: number | undefined = Infinity;
  for (let page = 1; ; page++) {
    const answer = await requester.ask(method, cursor === undefined ? undefined : { cursor });
    const { list, isCut, next, ttlMs } = await readPage(answer, kind, server, {
      mask: (text) => requester.mask(text),
      room: MAX_BYTES - bytes,
    });
    bytes += list.length;
    shortest = ttlMs === undefined || shortest === undefined ? undefined : Math.min(shortest, ttlMs);
    const entries = await collect(list, isCut, collector);
    const collected = { pages: page, bytes, ms: performance.now() - started };
    const reason =
      overflow(entries, components.length, next, member) ??
      (isCut ? TOO_LARGE : undefined) ??
      (next && whyNoMore(next, cursor, collected));
    if (reason === undefined && next !== undefined) {
      cursor = next;
      continue;
    }
    collector.logProblems(log, server);
    if (reason !== undefined) log.warn(`incomplete list of ${member}`, { server, reason });
    return { components, byKey, incomplete: reason ?? collector.leftOut, ttlMs: shortest };
  }
}

/** Adds the items of a list, pausing now and then for other work. Returns how many it found. */
async function collect(list: string, isCut: boolean, collector: Collector): Promise<number> {
  await laterIfLong(list);
  const turns = new Turns();
  let entries = 0;
  for (const item of isCut ? itemsBeforeCut(list) : jsonItems(list)) {
    if (++entries > MAX_ENTRIES) break;
    collector.add(item);
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  return entries;
}

/** The items of a list whose end is missing. */
function* itemsBeforeCut(list: string): Generator<string> {
  try {
    yield* jsonItems(list);
  } catch {
    // The last item is incomplete.
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

const TOO_LARGE = `its list is larger than ${MAX_BYTES} bytes.`;

function whyNoMore(
  next: string,
  cursor: string | undefined,
  collected: { readonly pages: number; readonly bytes: number; readonly ms: number },
): string | undefined {
  if (next === cursor) return 'its list repeats the same page.';
  if (collected.pages >= MAX_PAGES) return `its list has more than ${MAX_PAGES} pages.`;
  if (collected.bytes >= MAX_BYTES) return TOO_LARGE;
  if (collected.ms > MAX_MS) return `its list was not complete after ${MAX_MS / 1000} s.`;
  return undefined;
}

interface ListText {
  /** A JSON array. */
  readonly list: string;
  /** Whether the end is missing because there was no room for it. */
  readonly isCut: boolean;
  readonly next: string | undefined;
  readonly ttlMs?: number | undefined;
}

async function laterIfLong({ length }: { readonly length: number }): Promise<void> {
  if (length > MAX_PARSED) await new Promise<void>(inLaterTurn);
}

/** `room`: how much of the list is used, in bytes. */
async function readPage(
  answer: Message,
  kind: ListKind,
  server: string,
  { mask, room }: { readonly mask: (text: string) => string; readonly room: number },
): Promise<ListText> {
  const { method, member } = LIST_KINDS[kind];
  if (answer.has(Server.error)) {
    // A server without any may not know the method, whatever it declared.
    if (errorCode(answer) === RpcCode.methodNotFound) return { list: '[]', isCut: false, next: undefined };
    const said = mask(errorText(answer));
    throw new SwitchboardError(
      'LIST_FAILED',
      `Server '${server}' could not list its ${member}: ${quoted(said)}.`,
    );
  }
  // It was just checked. Reading a long response again, and then its list, happens in other turns of the event loop.
  await laterIfLong(answer);
  const page = answer.as(LIST_SHAPE);
  await laterIfLong(answer);
  const slot = ListPage.list(kind);
  const list = page?.text(slot, room);
  if (page === undefined || list?.startsWith('[') !== true) {
    throw new SwitchboardError(
      'LIST_FAILED',
      `Server '${server}' did not respond to ${method} with a list of ${member}.`,
    );
  }
  const isCut = page.end(slot) - page.start(slot) > room;
  const next = page.value(ListPage.nextCursor);
  const kept = page.text(ListPage.ttlMs, 100);
  const ttlMs = kept === undefined ? undefined : Math.max(Number(kept) || 0, 0);
  return { list, isCut, next: typeof next === 'string' && next !== '' ? next : undefined, ttlMs };
}
