import type { Call, Listing, Source } from '../gateway/index.ts';
import { Client, type CatalogKind, type ListKind } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { editedString, type Edit } from '../wire/index.ts';
import { isGranted, isWhole, type Access, type RoleKind } from './access.ts';
import type { BegunCall, CallCounter } from './limiter.ts';

export interface LimitedSourceOptions {
  /** What the client may do at this moment; undefined if it may do everything. */
  readonly access: () => Access | undefined;
  readonly counter: CallCounter;
}

/**
 * Limits a source to what a client's roles allow. Anything else is missing from its lists, and requests for it never
 * reach the server, by whatever path. The source remains the same object.
 */
export function limitSource(source: Source, { access, counter }: LimitedSourceOptions): Source {
  const pass = source.request.bind(source);
  const list = source.list.bind(source);
  const known = source.known.bind(source);
  const remembered = source.remembered.bind(source);
  const shown = (kind: ListKind, listing: Listing): Listing => {
    const now = access();
    return kind === 'tasks' || now === undefined
      ? listing
      : grantedPart(listing, KINDS[kind], source.name, now);
  };
  source.list = async (kind) => shown(kind, await list(kind));
  source.known = (kind) => {
    const listing = known(kind);
    return listing && shown(kind, listing);
  };
  source.remembered = (kind) => {
    const listing = remembered(kind);
    return listing && shown(kind, listing);
  };
  source.request = (edits, call) => {
    const now = access();
    if (now === undefined) {
      pass(edits, call);
      return;
    }
    const { limits } = now;
    const refusal = refusalOf(edits, call, now.grantsFor(source.name));
    if (refusal !== undefined) {
      call.fail(refusal);
      return;
    }
    if (limits.resultBytes !== undefined) call.limitBytes(limits.resultBytes);
    if (call.method !== 'tools/call') {
      pass(edits, call);
      return;
    }
    const begun = counter.begin(limits);
    if (!(begun instanceof Promise)) counted(begun, edits, call);
    else
      begun
        .then((each) => counted(each, edits, call))
        .catch((cause: unknown) =>
          call.fail(new SwitchboardError('INTERNAL', `${call.subject()} could not be counted.`, { cause })),
        );
  };
  const counted = (begun: BegunCall, edits: Edit[], call: Call): void => {
    if (begun instanceof SwitchboardError) {
      call.fail(begun);
      return;
    }
    // The call may have been cancelled while it was being counted.
    if (!call.open) {
      begun();
      return;
    }
    const { onEnd } = call;
    call.onEnd = (...outcome) => {
      begun();
      onEnd?.(...outcome);
    };
    pass(edits, call);
  };
  return source;
}

const KINDS: Readonly<Record<CatalogKind, RoleKind>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  resourceTemplates: 'resources',
};

/** The allowed components of a listing. Returns the same object for the same listing and access. */
function grantedPart(listing: Listing, kind: RoleKind, server: string, access: Access): Listing {
  const grants = access.grantsFor(server);
  if (isWhole(grants)) return listing;
  const parts = partsOf.get(listing) ?? new Map<string, Listing>();
  partsOf.set(listing, parts);
  let part = parts.get(access.key);
  if (part === undefined) {
    const components = listing.components.filter(({ key }) => isGranted(grants, kind, key));
    part = { ...listing, components, byKey: new Map(components.map((each) => [each.key, each])) };
    parts.set(access.key, part);
  }
  return part;
}

const partsOf = new WeakMap<Listing, Map<string, Listing>>();

function refusalOf(
  edits: Edit[],
  { method, request }: Call,
  grants: ReturnType<Access['grantsFor']>,
): SwitchboardError | undefined {
  if (isWhole(grants)) return undefined;
  const check = (kind: RoleKind, slot: number): SwitchboardError | undefined => {
    const name = editedString(request, slot, edits);
    return name !== undefined && isGranted(grants, kind, name) ? undefined : unknown(kind, name);
  };
  switch (method) {
    case 'tools/call':
      return check('tools', Client.name);
    case 'prompts/get':
      return check('prompts', Client.name);
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return check('resources', Client.uri);
    case 'completion/complete':
      return request.string(Client.refType) === 'ref/prompt'
        ? check('prompts', Client.refName)
        : check('resources', Client.refUri);
    case 'tasks/get':
    case 'tasks/result':
    case 'tasks/cancel':
    case 'tasks/update':
      // A client that may use a server at all can reach only its own tasks there.
      return grants.length > 0 ? undefined : unknown('tools', undefined);
    default:
      return new SwitchboardError('METHOD_UNKNOWN', `Method not found: ${method.slice(0, 200)}`);
  }
}

/** The same error as for something that does not exist, so that clients do not learn what is withheld from them. */
function unknown(kind: RoleKind, name = ''): SwitchboardError {
  const quoted = JSON.stringify(name.slice(0, 200));
  switch (kind) {
    case 'tools':
      return new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${quoted}.`);
    case 'resources':
      return new SwitchboardError('RESOURCE_UNKNOWN', `Unknown resource: ${quoted}.`);
    case 'prompts':
      return new SwitchboardError('PROMPT_UNKNOWN', `Unknown prompt: ${quoted}.`);
  }
}
