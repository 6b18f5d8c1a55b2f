/** The facts about one kind of list. */
interface KindFacts {
  /** The request that lists them. */
  readonly method: string;
  /** The member of its result that holds them. */
  readonly member: string;
  /** The member of each that it goes by. */
  readonly key: string;
  /** The capability a server declares that has them. */
  readonly capability: string;
  /** What a server sends when the list has changed; undefined where there is nothing to send. */
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

/** The kinds whose lists are cached and exposed; tasks are fetched every time. */
export const CATALOG_KINDS = [
  'tools',
  'resources',
  'resourceTemplates',
  'prompts',
] as const satisfies readonly ListKind[];
export type CatalogKind = (typeof CATALOG_KINDS)[number];

/** The kinds whose lists a notification says have changed. */
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
