/** The facts about one kind of list. */
interface KindFacts {
  /** The request that lists them. */
  readonly method: string;
  /** The member of its result that contains them. */
  readonly member: string;
  /** The member that identifies each of them. */
  readonly key: string;
  /** The capability declared by servers that have them. */
  readonly capability: string;
  /** The notification that the list has changed; undefined if there is none. */
  readonly changed: string | undefined;
}

export const LIST_KINDS = {
  tools: {
    method: 'tools/list',
    member: 'tools',
    key: 'name',
    capability: 'tools',
    changed: 'notifications/tools/list_changed',
  },
  resources: {
    method: 'resources/list',
    member: 'resources',
    key: 'uri',
    capability: 'resources',
    changed: 'notifications/resources/list_changed',
  },
  resourceTemplates: {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    capability: 'resources',
    changed: 'notifications/resources/list_changed',
  },
  prompts: {
    method: 'prompts/list',
    member: 'prompts',
    key: 'name',
    capability: 'prompts',
    changed: 'notifications/prompts/list_changed',
  },
  tasks: {
    method: 'tasks/list',
    member: 'tasks',
    key: 'taskId',
    capability: 'tasks',
    changed: undefined,
  },
} as const satisfies Readonly<Record<string, KindFacts>>;

export type ListKind = keyof typeof LIST_KINDS;

/** The kinds whose lists are cached and exposed; tasks are always fetched. */
export const CATALOG_KINDS = [
  'tools',
  'resources',
  'resourceTemplates',
  'prompts',
] as const satisfies readonly ListKind[];
export type CatalogKind = (typeof CATALOG_KINDS)[number];

/** The kinds whose lists have changed according to a notification. */
export function kindsChangedBy(method: string): readonly CatalogKind[] {
  return CATALOG_KINDS.filter((kind) => LIST_KINDS[kind].changed === method);
}

/** The kind that a request lists; undefined for any other request. */
export function kindListedBy(method: string): ListKind | undefined {
  return BY_METHOD.get(method);
}

const BY_METHOD: ReadonlyMap<string, ListKind> = new Map(
  Object.entries(LIST_KINDS).map(([kind, facts]) => [facts.method, kind as ListKind]),
);
