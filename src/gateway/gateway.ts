import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { silentLogger, type Logger } from '../shared/log.ts';
import { didYouMean } from '../shared/nearest.ts';
import {
  Client,
  isJsonObject,
  KEPT_KINDS,
  kindListedBy,
  KINDS,
  LOG_MESSAGE_LEVELS,
  severity,
  Server,
  type JsonObject,
  type KeptKind,
} from '../protocol/index.ts';
import { itemsOf, memberText, withMembers, type Edit, type Message } from '../wire/index.ts';
import { Arrivals, type Awaited } from './arrivals.ts';
import type { Call } from './call.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { findTemplate, type Owned } from './directory.ts';
import type { OverallExposure } from './exposure.ts';
import type { Session } from './session.ts';
import { Shelf } from './shelf.ts';
import type { Source, SourceListener } from './source.ts';
import { StartGate } from './start-gate.ts';
import type { ExposedTool } from './table.ts';
import { viewOf, type View } from './view.ts';
import { clientMeant, forwardNotification, forwardUpdate, relayQuestion } from './way-back.ts';

export interface GatewayOptions {
  readonly entries: readonly CatalogEntry[];
  /** Tools made of tools of several entries. Default none. */
  readonly overall?: readonly OverallExposure[];
  readonly log?: Logger;
  /** Whether sources may be added that nobody knows of yet. Default false. */
  readonly mayGrow?: boolean;
  /** What a client can do that calls a tool which is no longer there. Default: list the tools. */
  readonly adviseOnLoss?: (server: string, why: Loss) => string | undefined;
  /** Shows the arguments of a call as they may be logged; undefined: they are not logged. */
  readonly loggedArguments?: (call: Call, source: string | undefined) => string | undefined;
}

/** What became of a tool's server: it was taken out, it crashed, or it no longer has the tool. */
export type Loss = 'removed' | 'crashed' | 'changed';

/** Names of tools that are gone and still explained; the oldest are forgotten first. */
const MAX_DEPARTED = 10_000;

/** Changes within so many milliseconds are told to clients as one. */
const COALESCE = 10;

/** The core: a catalog, shown through the exposures of its entries, and every call taken to the source it belongs to. */
export class Gateway {
  readonly #log: Logger;
  readonly #loggedArguments: GatewayOptions['loggedArguments'];
  readonly #adviseOnLoss: GatewayOptions['adviseOnLoss'];
  readonly #mayGrow: boolean;
  /** Tools that were listed and are no more, with the server they were of. */
  readonly #departed = new Map<string, string>();
  readonly #gate = new StartGate();
  readonly #arrivals = new Arrivals();
  readonly #sessions = new Set<Session>();
  #overall: readonly OverallExposure[];
  #catalog: Catalog;
  #shelves: ReadonlyMap<Source, Shelf> = new Map();
  #view: View;
  #outdated = false;
  #announcing: NodeJS.Timeout | undefined;

  constructor({
    entries,
    overall = [],
    log = silentLogger,
    loggedArguments,
    adviseOnLoss,
    mayGrow = false,
  }: GatewayOptions) {
    this.#log = log;
    this.#loggedArguments = loggedArguments;
    this.#adviseOnLoss = adviseOnLoss;
    this.#mayGrow = mayGrow;
    this.#overall = overall;
    this.#catalog = { generation: 1, entries };
    this.#shelves = this.#shelvesFor(entries);
    this.#view = this.#viewNow();
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** The tools a client sees, in catalog order. */
  get tools(): readonly ExposedTool[] {
    return [...this.#current().tools.values()];
  }

  get sessions(): ReadonlySet<Session> {
    return this.#sessions;
  }

  /** What a client may expect of us: everything that some source may have, for they are not asked before. */
  get kinds(): ReadonlySet<KeptKind> {
    return this.#mayGrow
      ? new Set(KEPT_KINDS)
      : new Set(this.#catalog.entries.flatMap((entry) => [...entry.offers]));
  }

  /**
   * Shows other entries from now on. Where that fails, the old ones go on serving. Clients are told of what changed,
   * unless whoever swaps does that later (`quiet`).
   */
  swap(
    entries: readonly CatalogEntry[],
    {
      overall = this.#overall,
      quiet = false,
    }: { overall?: readonly OverallExposure[]; quiet?: boolean } = {},
  ): void {
    const catalog = { generation: this.#catalog.generation + 1, entries };
    const shelves = this.#shelvesFor(entries);
    const view = viewOf(catalog, overall, (entry) => shelves.get(entry.source)!.listings);
    for (const [source, shelf] of this.#shelves) if (!shelves.has(source)) shelf.close();
    this.#catalog = catalog;
    this.#overall = overall;
    this.#shelves = shelves;
    this.#show(view);
    if (this.#sessions.size > 0) this.#startWanted();
    if (!quiet) this.#announce();
  }

  /** Lists the tools of a source that was added, and starts it for that. Rejects where that fails. */
  async listNow(source: Source): Promise<void> {
    const shelf = this.#shelves.get(source);
    if (shelf === undefined) return;
    await shelf.refresh('tools').done;
    if (shelf.listings.tools === undefined) throw shelf.problem ?? new Error('It was stopped meanwhile.');
  }

  /** Tells every client that the list of tools has changed, whether or not it looks different. */
  announceTools(): void {
    for (const session of this.#sessions) session.seen.delete('tools');
    this.#announce();
  }

  /** A client is there: servers whose tools are listed one by one start now, in the background. */
  join(session: Session): void {
    const { texts } = this.#current();
    for (const kind of KEPT_KINDS) session.seen.set(kind, texts[kind]);
    this.#sessions.add(session);
    this.#startWanted();
  }

  leave(session: Session): void {
    this.#sessions.delete(session);
    for (const shelf of this.#shelves.values()) {
      for (const uri of shelf.subscriptions.leave(session)) {
        if (shelf.source.state.kind === 'running') this.#quietly(shelf, 'resources/unsubscribe', { uri });
      }
    }
  }

  /** Takes a call that is not about the connection itself to where it is answered. */
  handle(call: Call): void {
    try {
      if (call.method === 'tools/call') this.#callTool(call);
      else this.#handleOther(call);
    } catch (error) {
      // A bug on our side costs this call only.
      call.fail(
        new SwitchboardError('INTERNAL', 'Switchboard failed to handle this request.', { cause: error }),
      );
    }
  }

  /** A client's notification that belongs to no call: all sources that run hear of it, where that makes sense. */
  notified(method: string, notification: Message): void {
    // A request in the clothes of a notification would get around everything that is checked for requests.
    if (!method.startsWith('notifications/')) return;
    const everyone = method === 'notifications/roots/list_changed';
    if (!everyone && this.#onlyRoute() === undefined) return;
    for (const { source } of this.#shelves.values()) source.tell(notification);
  }

  async close(): Promise<void> {
    clearTimeout(this.#announcing);
    for (const shelf of this.#shelves.values()) shelf.close();
    await Promise.all(this.#catalog.entries.map((entry) => entry.source.close()));
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
    const tool = this.#current().tools.get(name);
    if (tool !== undefined) this.#runTool(call, tool);
    else {
      this.#whenListed(
        call,
        ['tools'],
        () => this.#current().tools.get(name),
        (late) => this.#runTool(call, late),
        () => this.#unknownTool(name),
      );
    }
  }

  /** Hosts keep lists for a long time: for a tool that was there once it is said what became of it. */
  #unknownTool(name: string): SwitchboardError {
    const shown = JSON.stringify(name.slice(0, 200));
    const server = this.#departed.get(name);
    if (server === undefined) {
      const hint = didYouMean(name, this.#current().tools.keys()) ?? 'tools/list names the tools there are.';
      return new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${shown}.`, { hint });
    }
    const state = this.#catalog.entries.find((entry) => entry.source.name === server)?.source.state;
    const loss: Loss = state === undefined ? 'removed' : state.kind === 'crashed' ? 'crashed' : 'changed';
    const became =
      state?.kind === 'crashed'
        ? `its server '${server}' has crashed. ${messageOf(state.error)}`
        : loss === 'removed'
          ? `its server '${server}' was removed.`
          : `its server '${server}' has it no more.`;
    return new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${shown} is gone, ${became}`, {
      hint: this.#adviseOnLoss?.(server, loss) ?? 'tools/list names the tools there are now.',
    });
  }

  /** Something that is not there may stand in a list that is on its way: clients remember names from an earlier run. */
  #whenListed<T>(
    call: Call,
    kinds: readonly KeptKind[],
    find: () => T | undefined,
    use: (found: T) => void,
    refuse: () => SwitchboardError,
  ): void {
    const awaited = [...this.#shelves.values()].flatMap((shelf) => shelf.underWay(...kinds));
    if (awaited.length === 0) {
      call.fail(refuse());
      return;
    }
    void this.#arrivals
      .found(awaited, () => !call.open || find() !== undefined)
      .then(() => {
        const found = find();
        if (!call.open) return;
        if (found === undefined) call.fail(refuse());
        else use(found);
      });
  }

  #runTool(call: Call, tool: ExposedTool): void {
    const { name } = tool;
    // Some clients write null where they mean none.
    const lead = call.request.lead(Client.arguments);
    if (lead !== -1 && lead !== BRACE && call.request.text(Client.arguments) !== 'null') {
      call.fail(new SwitchboardError('PARAMS_INVALID', `The arguments of ${name} must be an object.`));
      return;
    }
    if (this.#log.enabled('debug')) {
      this.#log.debug('call', {
        tool: name,
        server: tool.source,
        bytes: call.request.length,
        arguments: this.#loggedArguments?.(call, tool.source),
      });
    }
    tool.run(call);
  }

  #list(call: Call, kind: KeptKind): void {
    // Everything fits one page, so every cursor is one we never gave.
    const params = call.request.value(Client.params);
    if (isJsonObject(params) && params.cursor !== undefined && params.cursor !== null) {
      call.fail(new SwitchboardError('PARAMS_INVALID', `Unknown cursor: ${call.method} has one page.`));
      return;
    }
    const { session } = call;
    const answer = (): void => {
      const text = this.#current().texts[kind];
      if (call.open) session.seen.set(kind, text);
      call.succeedWith(text);
    };
    const awaited: Awaited[] = [];
    for (const shelf of this.#shelves.values()) {
      const missing = shelf.awaited(kind);
      if (missing) awaited.push(missing);
    }
    if (awaited.length === 0) answer();
    else {
      session.awaiting.add(kind);
      const some = this.#current().texts[kind] !== `{"${KINDS[kind].member}":[]}`;
      void this.#arrivals.settled(awaited, some).then(() => {
        session.awaiting.delete(kind);
        answer();
        // Nobody was told anything meanwhile; who gave the list up has still to hear of it.
        this.#announce();
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
    const find = (): Owned | undefined => this.#current().prompts.get(name);
    const use = ({ entry, original }: Owned): void =>
      this.#send(
        call,
        entry,
        [replaced(call.request, Client.name, original, name)],
        () => `Prompt '${name}'`,
      );
    const found = find();
    if (found) use(found);
    else this.#whenListed(call, ['prompts'], find, use, () => this.#unknownPrompt(name));
  }

  #unknownPrompt(name: string): SwitchboardError {
    return new SwitchboardError('PROMPT_UNKNOWN', `Unknown prompt: ${JSON.stringify(name.slice(0, 200))}.`, {
      hint: didYouMean(name, this.#current().prompts.keys()) ?? 'prompts/list names the prompts there are.',
    });
  }

  #resource(call: Call): void {
    const uri = call.request.string(Client.uri);
    if (uri === undefined) {
      call.fail(new SwitchboardError('PARAMS_INVALID', `${call.method} needs a uri, as a string.`));
      return;
    }
    // Who linked to it knows it better than whoever has a template that fits.
    const find = (): Place | undefined =>
      this.#current().resources.get(uri) ?? this.#findLink(call.session, uri) ?? this.#findResource(uri);
    const use = (place: Place): void => this.#useResource(call, uri, place);
    const found = find();
    if (found) use(found);
    else this.#whenListed(call, ['resources', 'resourceTemplates'], find, use, () => unknownResource(uri));
  }

  #findResource(uri: string): Place | undefined {
    const { resources, templates } = this.#current();
    return resources.get(uri) ?? findTemplate(uri, templates.values());
  }

  #findLink(session: Session, uri: string): Place | undefined {
    const owner = session.linkOwner(uri);
    const shelf = owner && this.#shelves.get(owner);
    return shelf?.entry.offers.has('resources') === true ? { entry: shelf.entry, original: uri } : undefined;
  }

  #useResource(call: Call, uri: string, { entry, original }: Place): void {
    const { method, request, session } = call;
    const { subscriptions } = this.#shelves.get(entry.source)!;
    if (method === 'resources/subscribe') {
      // An update may follow its answer at once.
      if (!subscriptions.has(original, session)) {
        subscriptions.add(original, session, uri);
        call.undo = () => void subscriptions.remove(original, session);
      }
    } else if (method === 'resources/unsubscribe') {
      if (!subscriptions.remove(original, session)) {
        // Others still want to hear of it.
        call.succeed({});
        return;
      }
    } else if (uri !== original) call.onAnswer = (answer) => renamedContents(answer, original, uri);
    this.#send(
      call,
      entry,
      [replaced(request, Client.uri, original, uri)],
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
    const find = (): Place | undefined => {
      const { prompts, templates } = this.#current();
      return byName ? prompts.get(ref) : (templates.get(ref) ?? this.#findResource(ref));
    };
    const use = ({ entry, original }: Place): void => {
      const edits = [replaced(request, slot, original, ref)];
      this.#send(call, entry, edits, () => `Completion for ${JSON.stringify(ref)}`);
    };
    const found = find();
    if (found) use(found);
    else {
      const kinds: KeptKind[] = byName ? ['prompts'] : ['resources', 'resourceTemplates'];
      this.#whenListed(call, kinds, find, use, () =>
        byName ? this.#unknownPrompt(ref) : unknownResource(ref),
      );
    }
  }

  #setLevel(call: Call): void {
    const params = call.request.value(Client.params);
    const level = isJsonObject(params) ? params.level : undefined;
    if (!LOG_MESSAGE_LEVELS.includes(level as (typeof LOG_MESSAGE_LEVELS)[number])) {
      const message = `logging/setLevel needs a level: one of ${LOG_MESSAGE_LEVELS.join(', ')}.`;
      call.fail(new SwitchboardError('PARAMS_INVALID', message));
      return;
    }
    call.session.logLevel = level as string;
    for (const shelf of this.#shelves.values())
      if (shelf.source.state.kind === 'running') this.#passLevel(shelf);
    call.succeed({});
  }

  #passLevel(shelf: Shelf): void {
    // Of several clients the one that wants most decides what is said.
    const asked = [...this.#sessions].map((session) => severity(session.logLevel)).filter((at) => at >= 0);
    if (asked.length === 0 || shelf.source.about()?.capabilities.logging === undefined) return;
    this.#quietly(shelf, 'logging/setLevel', { level: LOG_MESSAGE_LEVELS[Math.min(...asked)] });
  }

  #task(call: Call): void {
    const task = call.request.string(Client.taskId);
    const owner = task === undefined ? undefined : call.session.taskOwner(task);
    const shelf = owner && this.#shelves.get(owner);
    if (shelf) this.#send(call, shelf.entry, [], () => `Task '${task}'`);
    else {
      const message =
        task === undefined
          ? `${call.method} needs a taskId, as a string.`
          : `Unknown task: ${JSON.stringify(task.slice(0, 200))}.`;
      call.fail(new SwitchboardError('PARAMS_INVALID', message));
    }
  }

  /** The tasks of all sources that run and can list theirs; what is not running has none. */
  #listTasks(call: Call): void {
    const sources = [...this.#shelves.values()]
      .map((shelf) => shelf.source)
      .filter((source) => {
        const tasks = source.about()?.capabilities.tasks;
        return source.state.kind === 'running' && isJsonObject(tasks) && tasks.list !== undefined;
      });
    const lists = sources.map(async (source) => {
      const { components } = await within(TASKS_PATIENCE, source.list('tasks'));
      return components
        .filter(({ key }) => call.session.ownsTask(key, source))
        .map((component) => component.text);
    });
    void Promise.allSettled(lists).then((results) => {
      const texts = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      call.succeedWith(`{"tasks":[${texts.join(',')}]}`);
    });
  }

  /** A method nobody told us about goes where everything goes, if that is one place. */
  #unknownMethod(call: Call): void {
    const entry = this.#onlyRoute();
    if (entry) this.#send(call, entry, [], () => call.method);
    else call.fail(new SwitchboardError('METHOD_UNKNOWN', `Method not found: ${call.method.slice(0, 200)}`));
  }

  #onlyRoute(): CatalogEntry | undefined {
    const [entry, another] = this.#catalog.entries;
    return another === undefined && entry?.exposure.needsTools === true ? entry : undefined;
  }

  #send(call: Call, entry: CatalogEntry, edits: readonly (Edit | undefined)[], what: () => string): void {
    call.subject = () => `${what()} of server '${entry.source.name}'`;
    entry.source.request(
      edits.filter((edit) => edit !== undefined),
      call,
    );
  }

  #shelvesFor(entries: readonly CatalogEntry[]): Map<Source, Shelf> {
    const shelves = new Map<Source, Shelf>();
    for (const entry of entries) {
      const shelf = this.#shelves.get(entry.source) ?? this.#newShelf(entry);
      shelf.entry = entry;
      shelves.set(entry.source, shelf);
    }
    return shelves;
  }

  #newShelf(entry: CatalogEntry): Shelf {
    const shelf = new Shelf(entry, {
      log: this.#log,
      gate: this.#gate,
      restocked: () => this.#changed(),
      tried: (listed) => this.#arrivals.arrived(listed),
    });
    entry.source.listen(this.#listenerFor(shelf));
    return shelf;
  }

  #listenerFor(shelf: Shelf): SourceListener {
    return {
      started: () => {
        shelf.restart();
        this.#passLevel(shelf);
        for (const uri of shelf.subscriptions.uris()) this.#quietly(shelf, 'resources/subscribe', { uri });
      },
      gone: () => shelf.gone(),
      changed: (kind) => shelf.changed(kind),
      asked: (question) => relayQuestion(question, this.#sessions),
      notified: (notification, callers) =>
        notification.string(Server.method) === 'notifications/resources/updated'
          ? forwardUpdate(notification, shelf.subscriptions)
          : forwardNotification(notification, clientMeant(callers(), this.#sessions)),
      inUse: () => shelf.subscriptions.size > 0,
    };
  }

  /** A request of our own whose answer changes nothing. */
  #quietly({ source }: Shelf, method: string, params: JsonObject): void {
    source.ask(method, params).catch((error: unknown) => {
      this.#log.debug('not answered', { server: source.name, method, reason: messageOf(error) });
    });
  }

  #startWanted(): void {
    const wanted = [...this.#shelves.values()].filter(
      ({ entry, listings }) =>
        entry.exposure.needsTools &&
        entry.volatile !== true &&
        entry.offers.has('tools') &&
        listings.tools === undefined,
    );
    for (const shelf of wanted) shelf.keep();
  }

  #viewNow(): View {
    return viewOf(this.#catalog, this.#overall, (entry) => this.#shelves.get(entry.source)!.listings);
  }

  /** The view, made anew where something has changed since. */
  #current(): View {
    if (this.#outdated) {
      this.#show(this.#viewNow());
    }
    return this.#view;
  }

  #show(view: View): void {
    const before = this.#view;
    this.#view = view;
    this.#outdated = false;
    for (const [name, tool] of before.tools) {
      if (tool.source === undefined || view.tools.has(name)) continue;
      this.#departed.delete(name);
      this.#departed.set(name, tool.source);
      if (this.#departed.size > MAX_DEPARTED) this.#departed.delete(this.#departed.keys().next().value!);
    }
  }

  #changed(): void {
    this.#outdated = true;
    this.#announce();
  }

  /** Tells each client which of the lists it knows are different now. Changes close together are told as one. */
  #announce(): void {
    this.#announcing ??= setTimeout(() => {
      this.#announcing = undefined;
      const { texts } = this.#current();
      for (const session of this.#sessions) {
        const stale = KEPT_KINDS.filter(
          (kind) => !session.awaiting.has(kind) && session.seen.get(kind) !== texts[kind],
        );
        for (const kind of stale) session.seen.set(kind, texts[kind]);
        for (const method of new Set(stale.map((kind) => KINDS[kind].changed))) session.client.notify(method);
      }
    }, COALESCE);
  }
}

/** How long a server may take to list its tasks before the others' are given without them, in milliseconds. */
const TASKS_PATIENCE = 5000;

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const BRACE = 0x7b;

interface Place {
  readonly entry: CatalogEntry;
  readonly original: string;
}

function unknownResource(uri: string): SwitchboardError {
  return new SwitchboardError('RESOURCE_UNKNOWN', `Unknown resource: ${JSON.stringify(uri.slice(0, 500))}.`, {
    hint: 'resources/list and resources/templates/list name what there is.',
  });
}

/** The edit that puts the source's own name in the place of the client's; undefined where they are the same. */
function replaced(request: Message, slot: number, original: string, exposed: string): Edit | undefined {
  if (original === exposed) return undefined;
  return { start: request.start(slot), end: request.end(slot), with: JSON.stringify(original) };
}

/** A client that read a resource under an alias finds the alias in the contents, not a URI that means another server's. */
function renamedContents(answer: Message, original: string, alias: string): Edit[] {
  const contents = answer.text(Server.contents);
  if (contents === undefined || !contents.startsWith('[')) return [];
  const items = itemsOf(contents).map((item) => {
    const text = item.startsWith('{') ? memberText(item, 'uri') : undefined;
    const uri: unknown = text === undefined ? undefined : JSON.parse(text);
    const within = typeof uri === 'string' && (uri === original || uri.startsWith(`${original}/`));
    return within ? withMembers(item, { uri: JSON.stringify(alias + uri.slice(original.length)) }) : item;
  });
  return [
    { start: answer.start(Server.contents), end: answer.end(Server.contents), with: `[${items.join(',')}]` },
  ];
}
