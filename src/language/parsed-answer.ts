import { Server, type JsonObject } from '../protocol/index.ts';
import { editedText, jsonItems, MAX_PARSED, memberText, type Edit, type Message } from '../wire/index.ts';

/** The most content blocks that are read of a long response, and the most that is parsed of them, in UTF-16 units. */
const MAX_BLOCKS = 1000;
const MAX_BLOCK = 64 * 1024;

/**
 * A response as a value. Of a long one: its short members, and the long texts and data in its content; a long error is
 * left out.
 */
export function parsedAnswer(
  answer: Message,
  edits: readonly Edit[],
): { readonly result: JsonObject; readonly error?: unknown } {
  if (answer.length <= MAX_PARSED || edits.length > 0)
    return JSON.parse(editedText(answer, edits)) as { result: JsonObject; error?: unknown };
  if (answer.has(Server.error))
    return { result: {}, error: answer.value(Server.error) ?? 'The error is too long to be shown.' };
  const list = answer.text(Server.content) ?? '';
  const content: JsonObject[] = [];
  if (list.startsWith('[')) {
    for (const item of jsonItems(list)) {
      if (item.startsWith('{')) content.push(block(item));
      if (content.length === MAX_BLOCKS) break;
    }
  }
  const isError = memberText(answer.text(Server.result) ?? '{}', 'isError') === 'true';
  return { result: { content, ...(isError ? { isError } : {}) } };
}

/** Of a long block, only strings are kept, and those of its resource: they are parsed quickly. */
function block(text: string): JsonObject {
  if (text.length <= MAX_BLOCK) return JSON.parse(text) as JsonObject;
  const kept: JsonObject = {};
  for (const key of ['type', 'text', 'data', 'blob', 'mimeType', 'uri', 'name']) {
    const member = memberText(text, key);
    if (member?.startsWith('"') === true) kept[key] = JSON.parse(member);
  }
  const resource = memberText(text, 'resource');
  if (resource?.startsWith('{') === true) kept.resource = block(resource);
  return kept;
}
