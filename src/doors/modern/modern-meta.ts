import { Meta, Server, SERVER_SHAPE, type JsonObject } from '../../protocol/index.ts';
import {
  addEdit,
  editedText,
  jsonMembers,
  memberText,
  Message,
  withMembers,
  type Edit,
} from '../../wire/index.ts';

/** Results that clients may cache, and that must say for how long. */
const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

const SERVER_INFO = JSON.stringify(Meta.serverInfo);
const BRACE = 0x7b;
/** The code for "resource not found" before the modern era, and in it. */
const OLD_NOT_FOUND = /"code"\s*:\s*-32002\b/;
const NOT_FOUND = '-32602';

/** An answer and the edits to make when it is sent. */
interface EditedAnswer {
  readonly answer: Message;
  readonly edits: readonly Edit[];
}

/** The members of the modern era that a result lacks, as JSON text without braces. */
function missingMembers(method: string, has: (member: RequiredMember) => boolean, ttlMs = 0): string[] {
  const members = has('resultType') ? [] : ['"resultType":"complete"'];
  // An answer of an older server may change at any moment; the server announces changes in other ways.
  if (CACHEABLE.has(method)) {
    if (!has('ttlMs')) members.push(`"ttlMs":${ttlMs}`);
    if (!has('cacheScope')) members.push('"cacheScope":"private"');
  }
  return members;
}

type RequiredMember = 'resultType' | 'ttlMs' | 'cacheScope';

/**
 * The edits that turn a source's answer into one of the modern era. They add resultType, cache members and server info,
 * unless the source has set them. Everything else stays byte for byte the same. `serverInfo` is our identity, as JSON
 * text.
 */
export function withModernMeta(
  answer: Message,
  edits: readonly Edit[],
  method: string,
  serverInfo: string,
): EditedAnswer {
  if (answer.has(Server.error)) return modernError(answer, edits);
  if (hasResultMeta(answer, method)) return { answer, edits };
  const start = answer.start(Server.result) + 1;
  // An earlier edit is at the same position: apply it first.
  if (edits.some((edit) => edit.start <= start && edit.end >= start))
    return withModernMeta(
      Message.fromText(editedText(answer, edits), SERVER_SHAPE),
      NONE,
      method,
      serverInfo,
    );
  const members = missingMembers(method, (member) => answer.has(Server[member]));
  const own = `${SERVER_INFO}:${serverInfo}`;
  const all = [...edits];
  if (!answer.has(Server.resultMeta)) members.push(`"_meta":{${own}}`);
  else if (answer.lead(Server.resultMeta) === BRACE && !answer.has(Server.serverInfo)) {
    const inside = answer.start(Server.resultMeta) + 1;
    addEdit(all, { start: inside, end: inside, with: isEmpty(answer, Server.resultMeta) ? own : `${own},` });
  }
  if (members.length > 0) {
    const text = members.join(',');
    addEdit(all, { start, end: start, with: isEmpty(answer, Server.result) ? text : `${text},` });
  }
  return { answer, edits: all };
}

/** Whether the answer already has all of these members, as a modern server's does. */
export function hasResultMeta(answer: Message, method: string): boolean {
  return (
    answer.has(Server.serverInfo) &&
    answer.has(Server.resultType) &&
    // Nearly all are tool results, which are never cached.
    (method === 'tools/call' ||
      !CACHEABLE.has(method) ||
      (answer.has(Server.ttlMs) && answer.has(Server.cacheScope)))
  );
}

/** The same for a result of our own, given as JSON text. */
export function modernResultText(result: string, method: string, serverInfo: string): string {
  // The result may be several megabytes: look for its members only once.
  const given = new Map(jsonMembers(result).map(({ key, valueText }) => [key, valueText]));
  const members = missingMembers(method, (member) => given.has(member));
  const own = { [Meta.serverInfo]: serverInfo };
  const meta = given.get('_meta');
  let rest = result;
  if (meta === undefined) members.push(`"_meta":${withMembers('{}', own)}`);
  else rest = withMembers(result, { _meta: withMembers(meta.startsWith('{') ? meta : '{}', own) });
  if (members.length === 0) return rest;
  return `{${members.join(',')}${given.size === 0 ? '' : ','}${rest.slice(rest.indexOf('{') + 1)}`;
}

/** The same for a list, which has a single member: avoids searching megabytes of text. */
export function modernListText(list: string, method: string, serverInfo: string, ttlMs?: number): string {
  const members = missingMembers(method, () => false, ttlMs);
  const meta = withMembers('{}', { [Meta.serverInfo]: serverInfo });
  return `{${members.join(',')},"_meta":${meta},${list.slice(1)}`;
}

/** A result of our own making. */
export function modernResult(result: JsonObject, method: string, serverInfo: string): string {
  return modernResultText(JSON.stringify(result), method, serverInfo);
}

function modernError(answer: Message, edits: readonly Edit[]): EditedAnswer {
  const said = answer.requiredText(Server.error);
  if (!OLD_NOT_FOUND.test(said) || memberText(said, 'code') !== '-32002') return { answer, edits };
  const start = answer.start(Server.error);
  const edit = { start, end: answer.end(Server.error), with: withMembers(said, { code: NOT_FOUND }) };
  return { answer, edits: [edit] };
}

const NONE: readonly Edit[] = [];

/** Whether an object has no members. */
function isEmpty(answer: Message, slot: number): boolean {
  return /^\{\s*\}$/.test(answer.end(slot) - answer.start(slot) > 64 ? '' : answer.requiredText(slot));
}
