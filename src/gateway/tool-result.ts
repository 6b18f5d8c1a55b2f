import { SwitchboardError } from '../shared/errors.ts';
import { isJsonObject, Server, type JsonObject } from '../protocol/index.ts';
import type { Message } from '../wire/index.ts';

const BRACE = 0x7b;
const BRACKET = 0x5b;

/**
 * What to answer instead, where a server's answer to `tools/call` is not what a client can take; undefined for every
 * well-formed one, which then passes untouched.
 *
 * A plain object without `content` comes from servers older than the tool-result form. It gets its own JSON as text
 * content, for the model to read, and keeps its members beside it.
 */
export function correctedToolAnswer(
  answer: Message,
  subject: string,
): JsonObject | SwitchboardError | undefined {
  const hasResult = answer.has(Server.result);
  const hasError = answer.has(Server.error);
  if (hasResult && hasError) return unusable(subject, 'carries both a result and an error');
  if (hasError) return correctedError(answer, subject);
  if (answer.lead(Server.result) !== BRACE) return unusable(subject, 'is not an object');
  const content = answer.lead(Server.content);
  if (content === BRACKET) return undefined;
  if (content !== -1) return unusable(subject, 'has a content that is not a list');
  // Other forms of a result: of the oldest version, of tasks, of the modern era, of structured output alone.
  if (answer.has(Server.task) || answer.has(Server.resultType) || answer.has(Server.toolResult))
    return undefined;
  if (answer.has(Server.structuredContent)) return undefined;
  const result = answer.value(Server.result) as JsonObject;
  return { content: [{ type: 'text', text: JSON.stringify(result) }], ...result };
}

/** An error object passes as it is; one that is no error object at all is put into words. */
function correctedError(answer: Message, subject: string): SwitchboardError | undefined {
  if (answer.lead(Server.error) !== BRACE) {
    const said = answer.value(Server.error);
    const text = typeof said === 'string' ? said : JSON.stringify(said);
    return new SwitchboardError('SERVER_ERROR', `${subject} failed: ${text.slice(0, MAX_ERROR_CHARS)}`);
  }
  const length = answer.end(Server.errorMessage) - answer.start(Server.errorMessage);
  if (length <= MAX_ERROR_CHARS) return undefined;
  const said = answer.value(Server.error);
  const text = isJsonObject(said) && typeof said.message === 'string' ? said.message : '';
  return new SwitchboardError('SERVER_ERROR', `${subject} failed: ${text.slice(0, MAX_ERROR_CHARS)}…`);
}

/** Longer than any message meant to be read. */
const MAX_ERROR_CHARS = 4096;

function unusable(subject: string, what: string): SwitchboardError {
  return new SwitchboardError(
    'SERVER_ANSWER_UNUSABLE',
    `${subject} gave an answer that ${what}; it cannot be passed on.`,
    {
      hint: 'This is a fault of that server; its log may say more.',
    },
  );
}
