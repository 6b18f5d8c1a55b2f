import { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Component, Listing } from '../gateway/index.ts';
import { isJsonObject, Server, type JsonObject } from '../protocol/index.ts';
import { RpcCode, type Message } from '../wire/index.ts';
import { errorCode, errorText } from './error-answer.ts';

/** Bounds on what one server may make us collect. */
const MAX_PAGES = 100;
const MAX_COMPONENTS = 1000;
const MAX_MS = 10_000;

export interface Asker {
  ask(method: string, params?: JsonObject): Promise<Message>;
}

/** All tools of a server, page by page to the end, or to a bound. */
export async function listTools(asker: Asker, server: string, log: Logger): Promise<Listing> {
  const components: Component[] = [];
  const seen = new Set<string>();
  const started = performance.now();
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const answer = await asker.ask('tools/list', cursor === undefined ? undefined : { cursor });
    const result = readPage(answer, server);
    for (const tool of result.tools) {
      if (!isJsonObject(tool) || typeof tool.name !== 'string') {
        log.warn('skipped a tool without a name', { server });
      } else if (seen.has(tool.name))
        log.warn('skipped a second tool of the same name', { server, tool: tool.name });
      else if (components.length < MAX_COMPONENTS) {
        seen.add(tool.name);
        components.push(tool as Component);
      } else return stopped(components, `only its first ${MAX_COMPONENTS} tools are used.`, server, log);
    }
    if (result.next === undefined) return { components, names: seen, incomplete: undefined };
    if (result.next === cursor) return stopped(components, 'its list repeats the same page.', server, log);
    cursor = result.next;
    if (page >= MAX_PAGES)
      return stopped(components, `its list goes on after ${MAX_PAGES} pages.`, server, log);
    if (performance.now() - started > MAX_MS) {
      return stopped(components, `its list was not at its end after ${MAX_MS / 1000} s.`, server, log);
    }
  }
}

function stopped(components: readonly Component[], incomplete: string, server: string, log: Logger): Listing {
  log.warn('incomplete tool list', { server, reason: incomplete });
  return { components, names: new Set(components.map((component) => component.name)), incomplete };
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
