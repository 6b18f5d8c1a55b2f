import { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Component, Listing } from '../gateway/index.ts';
import { isJsonObject, Server, type JsonObject } from '../protocol/index.ts';
import { RpcCode, type Message } from '../wire/index.ts';
import { errorCode, errorText } from './error-answer.ts';

/** Bounds on what one server may make us collect. */
const MAX_PAGES = 100;
const MAX_COMPONENTS = 1000;
const MAX_ENTRIES = 10 * MAX_COMPONENTS;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_MS = 10_000;

export interface Asker {
  ask(method: string, params?: JsonObject): Promise<Message>;
}

/** All tools of a server, page by page to the end, or to a bound. */
export async function listTools(asker: Asker, server: string, log: Logger): Promise<Listing> {
  const components: Component[] = [];
  const names = new Set<string>();
  const started = performance.now();
  let bytes = 0;
  let skipped = 0;
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const answer = await asker.ask('tools/list', cursor === undefined ? undefined : { cursor });
    bytes += answer.length;
    const { tools, next } = readPage(answer, server);
    for (const tool of tools.slice(0, MAX_ENTRIES)) {
      if (components.length === MAX_COMPONENTS) break;
      if (isJsonObject(tool) && typeof tool.name === 'string' && !names.has(tool.name)) {
        names.add(tool.name);
        components.push(tool as Component);
      } else skipped++;
    }
    const collected = { pages: page, bytes, ms: performance.now() - started };
    const reason =
      overflow(tools.length, components.length, next) ?? (next && whyNoMore(next, cursor, collected));
    if (reason === undefined && next !== undefined) {
      cursor = next;
      continue;
    }
    if (skipped > 0)
      log.warn('skipped tools without a name or with one that was taken', { server, count: skipped });
    if (reason !== undefined) log.warn('incomplete tool list', { server, reason });
    return { components, names, incomplete: reason };
  }
}

function overflow(onPage: number, kept: number, next: string | undefined): string | undefined {
  const more = next !== undefined || onPage > MAX_COMPONENTS;
  return onPage > MAX_ENTRIES || (kept === MAX_COMPONENTS && more)
    ? `only its first ${MAX_COMPONENTS} tools are used.`
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

function readPage(answer: Message, server: string): { tools: readonly unknown[]; next: string | undefined } {
  if (answer.has(Server.error)) {
    // A server without tools need not know the method.
    if (errorCode(answer) === RpcCode.methodNotFound) return { tools: [], next: undefined };
    const said = errorText(answer);
    throw new SwitchboardError(
      'LIST_FAILED',
      `Server '${server}' could not list its tools: ${said.slice(0, 500)}`,
    );
  }
  const result = answer.value(Server.result);
  if (!isJsonObject(result) || !Array.isArray(result.tools)) {
    throw new SwitchboardError(
      'LIST_FAILED',
      `Server '${server}' answered tools/list with something that is no list of tools.`,
    );
  }
  const next = result.nextCursor;
  return { tools: result.tools, next: typeof next === 'string' && next !== '' ? next : undefined };
}
