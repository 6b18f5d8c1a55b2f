import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import type { Logger } from '../shared/log.ts';
import { didYouMean } from '../shared/nearest.ts';
import { inLaterTurn } from '../shared/turns.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { Client, kindListedBy, Server, LOG_MESSAGE_LEVELS, type CatalogKind } from '../protocol/index.ts';
import { jsonItems, MAX_PARSED, memberText, withMembers, type Edit, type Message } from '../wire/index.ts';
import type { ListWait, PendingList } from './list-wait.ts';
import type { Call } from './call.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { findTemplate, type OwnedComponent } from './component-names.ts';
import { passLogLevel } from './log-level.ts';
import type { ListedName } from './name-reservations.ts';
import type { Results } from './results.ts';
import type { Session } from './session.ts';
import type { SourceCache } from './source-cache.ts';
import type { Source } from './source.ts';
import type { ExposedTool } from './tool-names.ts';
import type { Snapshot } from './snapshot.ts';
import { namespaceOf } from './valid-tool-name.ts';

/** The gateway state that requests are answered from. */
export interface RouterContext {
  /** Everything that is exposed at the moment. */
  readonly snapshot: Snapshot;
  readonly caches: ReadonlyMap<Source, SourceCache>;
  readonly sessions: ReadonlySet<Session>;
  readonly listWait: ListWait;
  readonly log: Logger;
  /** Keeps results that were too long; undefined: none are kept. */
  readonly results: Results | undefined;
  /** Returns the arguments of a call as they may be logged; undefined: they are not logged. */
  readonly loggedArguments: ((call: Call, source: string | undefined) => string | undefined) | undefined;
  /** Called for every tool call with the name the client used, before the call is routed. */
  readonly called: ((call: Call, tool: string) => void) | undefined;
  /** The error for calling an unknown tool. */
  unknownTool(tool: string): SwitchboardError;
  /** A client has seen the list of a kind: reserves its names for their owners. */
  reserveNames(kind: CatalogKind): void;
  /** A client has used a name: reserves this one. */
  reserveName(kind: CatalogKind, ...name: ListedName): void;
  /** Whether clients know this name as its owner's. */
  isReserved(kind: CatalogKind, name: string): boolean;
  /** Notifies clients of lists that have changed since they saw them. */
  announce(): void;
}

/** How a request finds the owner of a name, and what happens then. */
interface NameLookup<T> {
  readonly find: () => T | undefined;
  readonly use: (found: T) => void;
  readonly refuse: () => SwitchboardError;
}

/** Routes each request of a client: it is answered by us or by its source. */
export class Router {
  readonly #context: RouterContext;

  constructor(context: RouterContext) {
    this.#context = context;
  }

  handle(call: Call): void {
    try {
      if (call.method === 'tools/call') this.#callTool(call);
      else this.#handleOther(call);
    } catch (error) {
      // A bug on our side fails only this call.
      call.fail(
        new SwitchboardError('INTERNAL', 'Switchboard failed to handle this request.', { cause: error }),
      );
    }
  }

  #handleOther(call: Call): void {
    const kind = kindListedBy(call.method);
    if (kind === 'tasks') this.#listTasks(call);
    else if (kind !== undefined) this.#list(call, kind);
    else {
      switch (call.method) {
        case 'prompts/get':
          this.#getPrompt(call);
          break;
        case 'resources/read':
        case 'resources/subscribe':
        case 'resources/unsubscribe':
          this.#resource(call);
          break;
        case 'completion/complete':
          this.#complete(call);
          break;
        case 'logging/setLevel':
          this.#setLevel(call);
          break;
        case 'tasks/get':
        case 'tasks/result':
        case 'tasks/cancel':
        case 'tasks/update':
          this.#task(call);
          break;
        default:
          this.#unknownMethod(call);
      }
    }
  }

  #callTool(call: Call): void {
    const name = call.request.string(Client.name);
    if (name === undefined) {
      call.fail(new SwitchboardError('PARAMS_INVALID', 'tools/call needs the name of a tool, as a string.'));
      return;
    }
    this.#context.called?.(call, name);
    const tool = this.#context.snapshot.tools.get(name);
    if (tool === undefined) this.#callUnlistedTool(call, name);
    else if (tool.called) this.#callListedTool(call, tool);
    else this.#callFirst(call, tool);
  }

  #callListedTool(call: Call, tool: ExposedTool): void {
    const cache = tool.owner && this.#context.caches.get(tool.owner);
    if (cache?.listings.tools?.remembered === true) this.#runRemembered(call, tool.name, cache);
    else this.#runTool(call, tool);
  }

  /** Handles the first call of a tool, which reserves the tool's name for its server. */
  #callFirst(call: Call, { name, owner, provisional }: ExposedTool): void {
    this.#whenFirst(call, 'tools', provisional && owner !== undefined ? { name, owner } : undefined, {
      find: () => this.#context.snapshot.tools.get(name),
      use: (tool) => {
        tool.called = true;
        this.#context.reserveName('tools', name, tool.source ?? '', tool.provisional);
        this.#callListedTool(call, tool);
      },
      refuse: () => this.#context.unknownTool(name),
    });
  }

  /**
   * Looks a name up again once the servers before its owner have been listed for the first time, because the name may
   * be theirs. A name that clients already know, or that is not provisional (undefined), is used at once.
   */
  #whenFirst<T>(
    call: Call,
    kind: CatalogKind,
    provisional: { readonly name: string; readonly owner: Source } | undefined,
    lookup: NameLookup<T>,
  ): void {
    const pending: PendingList[] = [];
    if (provisional !== undefined && !this.#context.isReserved(kind, provisional.name)) {
      for (const cache of this.#context.caches.values()) {
        if (cache.source === provisional.owner) break;
        const missing = cache.pending(kind);
        if (missing) pending.push(missing);
      }
    }
    const { find, use, refuse } = lookup;
    const proceed = (): void => {
      const found = find();
      if (!call.open) return;
      if (found === undefined) call.fail(refuse());
      else use(found);
    };
    if (pending.length === 0) proceed();
    else {
      call.follower?.waits();
      void this.#context.listWait.forName(pending, () => !call.open).then(proceed);
    }
  }

  #callUnlistedTool(call: Call, name: string): void {
    const find = (): ExposedTool | undefined => this.#context.snapshot.tools.get(name);
    const use = (tool: ExposedTool): void => this.#callFirst(call, tool);
    const refuse = (): SwitchboardError => this.#context.unknownTool(name);
    const own = [...this.#context.caches.values()]
      .filter(({ source }) => name.startsWith(`${namespaceOf(source.name)}__`))
      .flatMap((cache) => cache.missing('tools'))
      // If the name says which server it is for, the call waits for that server as long as its client waits.
      .map(({ done }) => ({ done, startedAt: () => Infinity }));
    if (own.length > 0) this.#waitForName(call, own, { find, use, refuse });
    else this.#whenListed(call, ['tools'], { find, use, refuse });
  }

  /** The tool is from a cached list: starts its server and checks that it still has the tool. */
  #runRemembered(call: Call, name: string, cache: SourceCache): void {
    const since = performance.now();
    call.follower?.waits();
    void this.#context.listWait
      .forName([cache.refresh('tools')], () => !call.open)
      .then(() => {
        if (!call.open) return;
        call.waitedMs = performance.now() - since;
        const tool = this.#context.snapshot.tools.get(name);
        const { state } = cache.source;
        if (tool === undefined) call.fail(this.#context.unknownTool(name));
        else if (state.kind === 'crashed') call.fail(asFailure(state.error, tool));
        // A server that cannot list its tools in time may still run this tool.
        else this.#runTool(call, tool);
      });
  }

  /** An unknown name may be on a list that has not been fetched yet: clients remember names from earlier runs. */
  #whenListed<T>(call: Call, kinds: readonly CatalogKind[], lookup: NameLookup<T>): void {
    const pending = [...this.#context.caches.values()].flatMap((cache) => cache.missing(...kinds));
    if (pending.length === 0) call.fail(lookup.refuse());
    else this.#waitForName(call, pending, lookup);
  }

  #waitForName<T>(call: Call, pending: readonly PendingList[], { find, use, refuse }: NameLookup<T>): void {
    call.follower?.waits();
    void this.#context.listWait
      .forName(pending, () => !call.open || find() !== undefined)
      .then(() => {
        const found = find();
        if (!call.open) return;
        if (found === undefined) call.fail(refuse());
        else use(found);
      });
  }

  #runTool(call: Call, tool: ExposedTool): void {
    const { name } = tool;
    // Some clients write null for "none".
    const lead = call.request.lead(Client.arguments);
    if (lead !== -1 && lead !== BRACE && call.request.text(Client.arguments) !== 'null') {
      call.fail(new SwitchboardError('PARAMS_INVALID', `The arguments of ${name} must be an object.`));
      return;
    }
    if (this.#context.log.enabled('debug')) {
      this.#context.log.debug('call', {
        tool: name,
        server: tool.source,
        bytes: call.request.length,
        arguments: this.#context.loggedArguments?.(call, tool.source),
      });
      const since = performance.now();
      const { onEnd } = call;
      call.onEnd = (outcome, bytes, answer) => {
        onEnd?.(outcome, bytes, answer);
        this.#context.log.debug('finished', {
          tool: name,
          server: tool.source ?? call.source?.name,
          subtool: call.subtool,
          ms: Math.round(performance.now() - since),
          outcome,
          bytes,
        });
      };
    }
    tool.run(call);
  }

  #list(call: Call, kind: CatalogKind): void {
    const params = call.request.value(Client.params);
    if (params === undefined && call.request.has(Client.params)) {
      call.fail(new SwitchboardError('PARAMS_INVALID', `The params of ${call.method} are too long.`));
      return;
    }
    // We send a single page, so every cursor is invalid.
    if (isObject(params) && params.cursor !== undefined && params.cursor !== null) {
      call.fail(new SwitchboardError('PARAMS_INVALID', `Unknown cursor: ${call.method} has one page.`));
      return;
    }
    const { session } = call;
    const answer = (): void => {
      const text = this.#context.snapshot.texts[kind];
      if (call.open) {
        session.seen.set(kind, text);
        this.#context.reserveNames(kind);
      }
      // It was just put together. Encoding a long one is left to a later turn of the event loop.
      if (text.length > MAX_PARSED) inLaterTurn(() => call.succeedWith(text));
      else call.succeedWith(text);
    };
    const pending: PendingList[] = [];
    for (const cache of this.#context.caches.values()) {
      const missing = cache.pending(kind);
      if (missing) pending.push(missing);
    }
    const settled = this.#context.listWait.forList(kind, pending);
    if (settled === undefined) answer();
    else {
      session.awaiting.add(kind);
      void settled.then(() => {
        session.awaiting.delete(kind);
        answer();
        // Announcements were held back meanwhile, and a client that cancelled has not seen the list.
        this.#context.announce();
      });
    }
  }

  #getPrompt(call: Call): void {
    const name = call.request.string(Client.name);
    if (name === undefined) {
      const message = 'prompts/get needs the name of a prompt, as a string.';
      call.fail(new SwitchboardError('PARAMS_INVALID', message));
      return;
    }
    const find = (): OwnedComponent | undefined => this.#context.snapshot.prompts.get(name);
    const send = ({ entry, original, provisional }: OwnedComponent): void => {
      this.#context.reserveName('prompts', name, entry.source.name, provisional);
      this.#send(
        call,
        entry,
        [renameEdit(call.request, Client.name, original, name)],
        () => `Prompt '${name}'`,
      );
    };
    const refuse = (): SwitchboardError => this.#unknownPrompt(name);
    const use = (found: OwnedComponent): void =>
      this.#whenFirst(call, 'prompts', ownerOf(found), { find, use: send, refuse });
    const found = find();
    if (found) use(found);
    else this.#whenListed(call, ['prompts'], { find, use, refuse });
  }

  #unknownPrompt(name: string): SwitchboardError {
    return new SwitchboardError('PROMPT_UNKNOWN', `Unknown prompt: ${JSON.stringify(name.slice(0, 200))}.`, {
      hint:
        didYouMean(name, this.#context.snapshot.prompts.keys()) ??
        'Call prompts/list to see the available prompts.',
    });
  }

  #resource(call: Call): void {
    const uri = call.request.string(Client.uri);
    if (uri === undefined) {
      call.fail(new SwitchboardError('PARAMS_INVALID', `${call.method} needs a uri, as a string.`));
      return;
    }
    const { results } = this.#context;
    if (call.method === 'resources/read' && results?.has(call.session, uri) === true) {
      results.readResource(call, uri);
      return;
    }
    // The server that linked to the resource has priority over one whose template matches.
    const find = (): ResourceOwner | undefined =>
      this.#context.snapshot.resources.get(uri) ??
      this.#findLink(call.session, uri) ??
      this.#findResource(uri);
    const send = (place: ResourceOwner): void => {
      const listed = this.#context.snapshot.resources.get(uri);
      if (listed) this.#context.reserveName('resources', uri, listed.entry.source.name, listed.provisional);
      this.#useResource(call, uri, place);
    };
    const refuse = (): SwitchboardError =>
      results?.isOurs(uri) === true ? unknownResult() : unknownResource(uri);
    const use = (): void =>
      this.#whenFirst(call, 'resources', ownerOf(this.#context.snapshot.resources.get(uri)), {
        find,
        use: send,
        refuse,
      });
    if (find()) use();
    else this.#whenListed(call, ['resources', 'resourceTemplates'], { find, use, refuse });
  }

  #findResource(uri: string): ResourceOwner | undefined {
    const { resources, templates } = this.#context.snapshot;
    return resources.get(uri) ?? findTemplate(uri, templates.values());
  }

  #findLink(session: Session, uri: string): ResourceOwner | undefined {
    const owner = session.linkOwner(uri);
    const cache = owner && this.#context.caches.get(owner);
    return cache?.entry.offers.has('resources') === true ? { entry: cache.entry, original: uri } : undefined;
  }

  #useResource(call: Call, uri: string, { entry, original }: ResourceOwner): void {
    const { method, request, session } = call;
    const subscriptions = this.#context.caches.get(entry.source)?.subscriptions;
    if (subscriptions === undefined) throw new Error('The source of a resource has a cache.');
    if (method === 'resources/subscribe') {
      // Added before the request is sent: an update may follow the answer at once.
      if (!subscriptions.has(original, session)) {
        subscriptions.add(original, session, uri);
        call.undo = () => void subscriptions.remove(original, session);
      }
    } else if (method === 'resources/unsubscribe') {
      if (!subscriptions.remove(original, session)) {
        // Other clients are still subscribed.
        call.succeed({});
        return;
      }
    } else if (uri !== original) call.onAnswer = (answer) => renamedContents(answer, original, uri);
    this.#send(
      call,
      entry,
      [renameEdit(request, Client.uri, original, uri)],
      () => `Resource ${JSON.stringify(uri)}`,
    );
  }

  #complete(call: Call): void {
    const { request } = call;
    const type = request.string(Client.refType);
    const byName = type === 'ref/prompt';
    const slot = byName ? Client.refName : Client.refUri;
    const ref = request.string(slot);
    if (ref === undefined || (!byName && type !== 'ref/resource')) {
      const message =
        'completion/complete needs a ref: {"type":"ref/prompt","name"} or {"type":"ref/resource","uri"}.';
      call.fail(new SwitchboardError('PARAMS_INVALID', message));
      return;
    }
    const find = (): ResourceOwner | undefined => {
      const { prompts, templates } = this.#context.snapshot;
      return byName ? prompts.get(ref) : (templates.get(ref) ?? this.#findResource(ref));
    };
    const use = ({ entry, original }: ResourceOwner): void => {
      const edits = [renameEdit(request, slot, original, ref)];
      this.#send(call, entry, edits, () => `Completion for ${JSON.stringify(ref)}`);
    };
    const found = find();
    if (found) use(found);
    else {
      const kinds: CatalogKind[] = byName ? ['prompts'] : ['resources', 'resourceTemplates'];
      const refuse = (): SwitchboardError => (byName ? this.#unknownPrompt(ref) : unknownResource(ref));
      this.#whenListed(call, kinds, { find, use, refuse });
    }
  }

  #setLevel(call: Call): void {
    const params = call.request.value(Client.params);
    const level = isObject(params) ? params.level : undefined;
    if (!LOG_MESSAGE_LEVELS.includes(level as (typeof LOG_MESSAGE_LEVELS)[number])) {
      const message = `logging/setLevel needs a level: one of ${LOG_MESSAGE_LEVELS.join(', ')}.`;
      call.fail(new SwitchboardError('PARAMS_INVALID', message));
      return;
    }
    call.session.logLevel = level as string;
    for (const cache of this.#context.caches.values())
      if (cache.source.state.kind === 'running') passLogLevel(cache, this.#context.sessions);
    call.succeed({});
  }

  #task(call: Call): void {
    const task = call.request.string(Client.taskId);
    const owner = task === undefined ? undefined : call.session.taskOwner(task);
    const cache = owner && this.#context.caches.get(owner);
    if (cache) this.#send(call, cache.entry, [], () => `Task '${task}'`);
    else {
      const message =
        task === undefined
          ? `${call.method} needs a taskId, as a string.`
          : `Unknown task: ${JSON.stringify(task.slice(0, 200))}.`;
      call.fail(new SwitchboardError('PARAMS_INVALID', message));
    }
  }

  /** Lists the tasks of all running sources that support it. */
  #listTasks(call: Call): void {
    const sources = [...this.#context.caches.values()]
      .map((cache) => cache.source)
      .filter((source) => {
        const tasks = source.about()?.capabilities.tasks;
        return source.state.kind === 'running' && isObject(tasks) && tasks.list !== undefined;
      });
    const lists = sources.map(async (source) => {
      const { components } = await withTimeout(source.list('tasks'), TASKS_TIMEOUT_MS, () => {
        throw new Error('too late');
      });
      return (
        components
          // A shared server has tasks of several clients; each client sees only its own.
          .filter(({ key }) =>
            source.subscriptions === undefined
              ? call.session.claimTask(key, source)
              : call.session.taskOwner(key) === source,
          )
          .map((component) => component.text)
      );
    });
    void Promise.allSettled(lists).then((results) => {
      const texts = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      call.succeedWith(`{"tasks":[${texts.join(',')}]}`);
    });
  }

  /** Sends an unknown method to the only source, if there is just one. */
  #unknownMethod(call: Call): void {
    const entry = onlyRoute(this.#context.snapshot.catalog);
    if (entry) this.#send(call, entry, [], () => call.method);
    else call.fail(new SwitchboardError('METHOD_UNKNOWN', `Method not found: ${call.method.slice(0, 200)}`));
  }

  #send(call: Call, entry: CatalogEntry, edits: readonly (Edit | undefined)[], what: () => string): void {
    call.assign(entry.source, () => `${what()} of server '${entry.source.name}'`);
    entry.source.request(
      edits.filter((edit) => edit !== undefined),
      call,
    );
  }
}

/** The only entry, if everything can be routed to it. */
export function onlyRoute({ entries }: Catalog): CatalogEntry | undefined {
  const [entry, another] = entries;
  return another === undefined && entry?.exposure.needsTools === true ? entry : undefined;
}

/** A server that takes longer than this to list its tasks is left out, in milliseconds. */
const TASKS_TIMEOUT_MS = 5000;

const BRACE = 0x7b;

function asFailure(error: Error, { name, source }: ExposedTool): SwitchboardError {
  const { code, hint } = error instanceof SwitchboardError ? error : { code: 'START_FAILED' as const };
  const message = `Tool '${name}' of server '${source}' was not run. ${error.message}`;
  return new SwitchboardError(code, message, { hint, cause: error });
}

/** The owner of a name that another source may turn out to have; undefined if the owner is certain. */
function ownerOf(
  component: OwnedComponent | undefined,
): { readonly name: string; readonly owner: Source } | undefined {
  return component?.provisional === true
    ? { name: component.exposed, owner: component.entry.source }
    : undefined;
}

interface ResourceOwner {
  readonly entry: CatalogEntry;
  readonly original: string;
}

function unknownResource(uri: string): SwitchboardError {
  return new SwitchboardError('RESOURCE_UNKNOWN', `Unknown resource: ${JSON.stringify(uri.slice(0, 500))}.`, {
    hint: 'Call resources/list and resources/templates/list to see what is available.',
  });
}

/** The same error whether the result is not kept or belongs to another client: clients must not learn which. */
function unknownResult(): SwitchboardError {
  return new SwitchboardError(
    'RESOURCE_UNKNOWN',
    'No such result is kept for you: it may have been dropped.',
    {
      hint: 'Call the tool again.',
    },
  );
}

/** The edit that replaces the client's name with the source's own; undefined if they are the same. */
function renameEdit(request: Message, slot: number, original: string, exposed: string): Edit | undefined {
  if (original === exposed) return undefined;
  return { start: request.start(slot), end: request.end(slot), with: JSON.stringify(original) };
}

/** An answer with more contents than this keeps the URIs that its server sent. */
const MOST_CONTENTS = 10_000;

/** A client that reads a resource by its alias gets the alias in the contents, not the URI of another server. */
function renamedContents(answer: Message, original: string, alias: string): Edit[] {
  const contents = answer.text(Server.contents);
  if (contents === undefined || !contents.startsWith('[')) return [];
  const items: string[] = [];
  for (const item of jsonItems(contents)) {
    const text = item.startsWith('{') ? memberText(item, 'uri') : undefined;
    const uri: unknown = text === undefined ? undefined : JSON.parse(text);
    const within = typeof uri === 'string' && (uri === original || uri.startsWith(`${original}/`));
    items.push(
      within ? withMembers(item, { uri: JSON.stringify(alias + uri.slice(original.length)) }) : item,
    );
    if (items.length > MOST_CONTENTS) return [];
  }
  return [
    { start: answer.start(Server.contents), end: answer.end(Server.contents), with: `[${items.join(',')}]` },
  ];
}
