import { isObject } from '../../shared/is-object.ts';
import type { JsonObject, ListKind } from '../../protocol/index.ts';
import { withMembers } from '../../wire/index.ts';

/** Whether a member of a list item has a value with which a client accepts the list. */
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isList: Check = (value) => Array.isArray(value);
const isObjectSchema: Check = (value) => isObject(value) && value.type === 'object';
const isArgumentList: Check = (value) =>
  Array.isArray(value) && value.every((each) => isObject(each) && typeof each.name === 'string');

const EVERYWHERE: Readonly<Record<string, Check>> = {
  title: isText,
  description: isText,
  icons: isList,
  _meta: isObject,
};
const CHECKS: Readonly<Record<ListKind, Readonly<Record<string, Check>>>> = {
  tools: {
    ...EVERYWHERE,
    inputSchema: isObjectSchema,
    outputSchema: isObjectSchema,
    annotations: isObject,
    execution: isObject,
  },
  resources: { ...EVERYWHERE, name: isText, mimeType: isText, size: isNumber, annotations: isObject },
  resourceTemplates: { ...EVERYWHERE, name: isText, mimeType: isText, annotations: isObject },
  prompts: { ...EVERYWHERE, arguments: isArgumentList },
  tasks: {},
};

export interface Repaired {
  readonly text: string;
  /** The original item. */
  readonly value: JsonObject;
  /** The names of its invalid members. */
  readonly bad: readonly string[];
}

/**
 * An item of a server's list without the members that clients would reject. Clients check a list as a whole, so one
 * invalid member from one server would cost a host the tools of all servers. Everything else keeps its text.
 */
export function wellFormed(text: string, kind: ListKind): Repaired {
  const value = JSON.parse(text) as JsonObject;
  const changes = new Map<string, string | undefined>();
  for (const [member, check] of Object.entries(CHECKS[kind])) {
    if (Object.hasOwn(value, member) && !check(value[member])) changes.set(member, undefined);
  }
  const bad = [...changes.keys()];
  // A tool must describe its arguments. One that does not accepts any.
  if (kind === 'tools' && !isObjectSchema(value.inputSchema)) changes.set('inputSchema', '{"type":"object"}');
  if (kind === 'resources' || kind === 'resourceTemplates') {
    const name = value[kind === 'resources' ? 'uri' : 'uriTemplate'];
    if (!isText(value.name)) changes.set('name', JSON.stringify(name));
  }
  return { text: changes.size === 0 ? text : withMembers(text, changes), value, bad };
}
