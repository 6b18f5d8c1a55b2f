import { isObject } from '../../shared/is-object.ts';

/** What a tool's response becomes in a script: the value as JSON text, or the reason why there is none. */
export type ToolValue =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly message: string; readonly code: string };

/**
 * The structured content, if there is any. Otherwise the text, parsed if it is a JSON object or array. If the content
 * is not all text, the whole content as a list.
 */
export function toolValue(response: string): ToolValue {
  const { result, error } = JSON.parse(response) as { readonly result?: unknown; readonly error?: unknown };
  if (error !== undefined) return failed(messageIn(error), 'SERVER_ERROR');
  const { content, structuredContent, isError } = isObject(result) ? result : {};
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const texts = blocks.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  if (isError === true) return failed(texts.join('\n') || 'The tool failed without a message.', 'TOOL_ERROR');
  if (structuredContent !== undefined && structuredContent !== null) return value(structuredContent);
  if (texts.length < blocks.length) return value(blocks);
  if (blocks.length === 0 && !Array.isArray(content)) return value(result ?? null);
  const text = texts.join('\n');
  return { ok: true, json: isJson(text) ? text : JSON.stringify(text) };
}

/** Only objects and arrays: a tool that answers with a number or a single word means text. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function value(found: unknown): ToolValue {
  return { ok: true, json: JSON.stringify(found) };
}

function failed(message: string, code: string): ToolValue {
  return { ok: false, message, code };
}

function messageIn(error: unknown): string {
  return isObject(error) && typeof error.message === 'string' ? error.message : JSON.stringify(error);
}
