import { SwitchboardError } from '../shared/errors.ts';
import { quoted } from '../shared/printable.ts';
import type { Logger } from '../shared/log.ts';
import { Component, type Listing } from '../gateway/index.ts';
import { KINDS, Server, type JsonObject, type Kind } from '../protocol/index.ts';
import { itemsOf, memberText, RpcCode, type Message } from '../wire/index.ts';
import { errorCode, errorText } from './error-answer.ts';
import { wellFormed } from './well-formed.ts';

/** Bounds on what one server may make us collect. */
const MAX_PAGES = 100;
const MAX_COMPONENTS = 1000;
const MAX_ENTRIES = 10 * MAX_COMPONENTS;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_MS = 10_000;
/** Items with something wrong that are told of, in one list. */
const MAX_TOLD = 10;

export interface Asker {
  ask(method: string, params?: JsonObject): Promise<Message>;
  /** Hides what must not be shown in what the server says. */
  mask(text: string): string;
}

/**
 * Everything of one kind that a server has, page by page to the end, or to a bound. `screen` says why one of them cannot
 * be used; those are left out.
 */
export async function listAll(
  asker: Asker,
  kind: Kind,
  server: string,
  log: Logger,
  screen?: (key: string, text: string) => string | undefined,
): Promise<Listing> {
  const { method, member } = KINDS[kind];
  const components: Component[] = [];
  const byKey = new Map<string, Component>();
  const started = performance.now();
  let bytes = 0;
  let skipped = 0;
  const unusable = new Map<string, string>();
  const repaired = new Map<string, readonly string[]>();
  let cursor: string | undefined;
  /** Of all pages; a page that does not say makes it unknown. */
  let shortest: number | undefined = Infinity;
  for (let page = 1; ; page++) {
    const answer = await asker.ask(method, cursor === undefined ? undefined : { cursor });
    bytes += answer.length;
    const { items, next, ttlMs } = readPage(answer, kind, server, (text) => asker.mask(text));
    shortest = ttlMs === undefined || shortest === undefined ? undefined : Math.min(shortest, ttlMs);
    for (const item of items.slice(0, MAX_ENTRIES)) {
      if (components.length === MAX_COMPONENTS) break;
      const component = readComponent(item, kind, repaired);
      const bad = component && screen?.(component.key, component.text);
      if (bad !== undefined) unusable.set(component!.key, bad);
      else if (component !== undefined && !byKey.has(component.key)) {
        byKey.set(component.key, component);
        components.push(component);
      } else skipped++;
    }
    const collected = { pages: page, bytes, ms: performance.now() - started };
    const reason =
      overflow(items.length, components.length, next, member) ?? (next && whyNoMore(next, cursor, collected));
    if (reason === undefined && next !== undefined) {
      cursor = next;
      continue;
    }
    if (skipped > 0)
      log.warn(`skipped ${member} without a ${KINDS[kind].key} or with one that was taken`, {
        server,
        count: skipped,
      });
    for (const [key, bad] of [...repaired].slice(0, MAX_TOLD))
      log.warn(`left out what no client would take`, { server, [kind]: key, members: bad.join(',') });
    for (const [key, why] of [...unusable].slice(0, MAX_TOLD))
      log.warn(`left out what cannot be used`, { server, [kind]: key, reason: why });
    if (reason !== undefined) log.warn(`incomplete list of ${member}`, { server, reason });
    return { components, byKey, incomplete: reason, ttlMs: shortest };
  }
}

/** Undefined for one that does not say what it goes by. */
function readComponent(
  item: string,
  kind: Kind,
  repaired: Map<string, readonly string[]>,
): Component | undefined {
  const keyText = item.startsWith('{') ? memberText(item, KINDS[kind].key) : undefined;
  if (keyText?.startsWith('"') !== true) return undefined;
  const key = JSON.parse(keyText) as string;
  const { text, bad } = wellFormed(item, kind);
  if (bad.length > 0) repaired.set(key, bad);
  return new Component(key, text);
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
  if (collected.pages >= MAX_PAGES) return `its list goes on after ${MAX_PAGES} pages.`;
  if (collected.bytes > MAX_BYTES) return `its list is larger than ${MAX_BYTES} bytes.`;
  if (collected.ms > MAX_MS) return `its list was not at its end after ${MAX_MS / 1000} s.`;
  return undefined;
}

function readPage(
  answer: Message,
  kind: Kind,
  server: string,
  mask: (text: string) => string,
): { items: readonly string[]; next: string | undefined; ttlMs?: number | undefined } {
  const { method, member } = KINDS[kind];
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
      `Server '${server}' answered ${method} with something that is no list of ${member}.`,
    );
  }
  const cursor = memberText(result, 'nextCursor');
  const next: unknown = cursor === undefined ? undefined : JSON.parse(cursor);
  const kept = memberText(result, 'ttlMs');
  const ttlMs = kept === undefined ? undefined : Math.max(Number(kept) || 0, 0);
  return { items: itemsOf(list), next: typeof next === 'string' && next !== '' ? next : undefined, ttlMs };
}
