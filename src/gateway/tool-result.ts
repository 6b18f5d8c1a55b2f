import { SwitchboardError } from '../shared/errors.ts';
import { isJsonObject, Server, type JsonObject } from '../protocol/index.ts';
import type { Message } from '../wire/index.ts';

const BRACE = 0x7b;
const BRACKET = 0x5b;

/** Members that make a result without content a result all the same: of the oldest version, of tasks, of the modern era, of structured output alone. */
const OTHER_FORMS = ['toolResult', 'task', 'resultType', 'structuredContent'];

/** Longer than any message meant to be read. */
const MAX_ERROR_CHARS = 4096;

/**
 * What to answer instead, where a server's answer to `tools/call` is not what a client can take; undefined for every
 * well-formed one, which then passes untouched.
 *
 * A plain object without `content` comes from servers older than the tool-result form. It gets its own JSON as text
 * content, for the model to read, and keeps its members beside it.
 */
export function correctedToolAnswer(
  answer: Message,
  subject: () => string,
): JsonObject | SwitchboardError | undefined {
  const content = answer.lead(Server.content);
  if (answer.has(Server.error)) {
    return answer.has(Server.result)
      ? unusable(subject, 'carries both a result and an error')
      : correctedError(answer, subject);
  }
  if (content === BRACKET) return undefined;
  if (answer.lead(Server.result) !== BRACE) return unusable(subject, 'is not an object');
  if (content !== -1) return unusable(subject, 'has a content that is not a list');
  const result = answer.value(Server.result) as JsonObject;
  if (OTHER_FORMS.some((member) => Object.hasOwn(result, member))) return undefined;
  return { content: [{ type: 'text', text: JSON.stringify(result) }], ...result };
}

/** An error object passes as it is; one that is no error object, or endless, is put into words. */
function correctedError(answer: Message, subject: () => string): SwitchboardError | undefined {
  const length = answer.end(Server.error) - answer.start(Server.error);
  if (answer.lead(Server.error) === BRACE && length <= MAX_ERROR_CHARS) return undefined;
  const said = answer.value(Server.error);
  if (isJsonObject(said) && typeof said.message === 'string' && said.message.length <= MAX_ERROR_CHARS)
    return undefined;
  const words = isJsonObject(said) && typeof said.message === 'string' ? said.message : said;
  const text = typeof words === 'string' ? words : JSON.stringify(words);
  const shown = text.length > MAX_ERROR_CHARS ? `${text.slice(0, MAX_ERROR_CHARS)}…` : text;
  return new SwitchboardError('SERVER_ERROR', `${subject()} failed: ${shown}`);
}

function unusable(subject: () => string, what: string): SwitchboardError {
  return new SwitchboardError(
    'SERVER_ANSWER_UNUSABLE',
    `${subject()} gave an answer that ${what}; it cannot be passed on.`,
    { hint: 'This is a fault of that server; its log may say more.' },
  );
}
