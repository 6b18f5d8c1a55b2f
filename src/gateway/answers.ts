import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { Server } from '../protocol/index.ts';
import { defineShape, ENVELOPE, type Edit, type Message } from '../wire/index.ts';

const BRACE = 0x7b;
const BRACKET = 0x5b;

/**
 * Members that make a result valid without `content`: from the oldest version, tasks, the modern era, structured
 * output.
 */
const FORMS_SHAPE = defineShape({
  ...ENVELOPE,
  result: { toolResult: true, task: true, resultType: true, structuredContent: true },
});
const FORM_SLOTS = ['toolResult', 'task', 'resultType', 'structuredContent'].map((form) =>
  FORMS_SHAPE.slot(`result.${form}`),
);

/** The longest error message that is passed on unchanged. */
const MAX_ERROR_CHARS = 4096;

/**
 * The corrections a server's answer to `tools/call` needs before a client can take it: no edits if it is well-formed,
 * some edits, or an error if it cannot be repaired.
 *
 * A plain object without `content` comes from a server older than the tool-result form. It keeps its members and gets
 * its JSON as text content, for the model to read.
 */
export function correctToolAnswer(
  answer: Message,
  subject: () => string,
): readonly Edit[] | SwitchboardError {
  if (answer.has(Server.error)) {
    if (answer.has(Server.result)) return unusable(subject, 'has both a result and an error');
    return correctError(answer, subject);
  }
  const content = answer.lead(Server.content);
  if (content === BRACKET) return UNCHANGED;
  if (answer.lead(Server.result) !== BRACE) return unusable(subject, 'is not an object');
  if (content !== -1) return unusable(subject, 'has content that is not a list');
  const forms = answer.as(FORMS_SHAPE);
  if (forms === undefined || FORM_SLOTS.some((slot) => forms.has(slot))) return UNCHANGED;
  const result = answer.value(Server.result);
  if (!isObject(result)) return unusable(subject, 'has no content and is too long to be given as text');
  const text = answer.text(Server.result) ?? '{}';
  const start = answer.start(Server.result) + 1;
  const added = `"content":${JSON.stringify([{ type: 'text', text }])}${Object.keys(result).length === 0 ? '' : ','}`;
  return [{ start, end: start, with: added }];
}

/** The same for an answer to any other request. */
export function correctAnswer(answer: Message, subject: () => string): readonly Edit[] | SwitchboardError {
  if (answer.has(Server.error)) {
    if (answer.has(Server.result)) return unusable(subject, 'has both a result and an error');
    return correctError(answer, subject);
  }
  return answer.lead(Server.result) === BRACE ? UNCHANGED : unusable(subject, 'is not an object');
}

const UNCHANGED: readonly Edit[] = [];

/** Leaves a proper error object unchanged. Anything else, or an overlong message, is replaced by a readable error. */
function correctError(answer: Message, subject: () => string): readonly Edit[] | SwitchboardError {
  const said = answer.value(Server.error);
  if (said === undefined) return unusable(subject, 'has an error that is too long');
  const message = isObject(said) ? said.message : said;
  if (
    isObject(said) &&
    Number.isInteger(said.code) &&
    typeof message === 'string' &&
    message.length <= MAX_ERROR_CHARS
  ) {
    return UNCHANGED;
  }
  const text = typeof message === 'string' ? message : JSON.stringify(said);
  const shown = text.length > MAX_ERROR_CHARS ? `${text.slice(0, MAX_ERROR_CHARS)}…` : text;
  return new SwitchboardError('SERVER_ERROR', `${subject()} failed: ${shown}`);
}

function unusable(subject: () => string, what: string): SwitchboardError {
  return new SwitchboardError(
    'SERVER_ANSWER_UNUSABLE',
    `${subject()} returned a response that ${what}; it cannot be forwarded.`,
    { hint: 'This is a bug in that server; check its log.' },
  );
}
