/**
 * Answers its calls with the wrong id, twice, or in a shape that JSON-RPC or MCP does not allow.
 *
 *   node test/servers/wrong-id.mjs
 *
 * Tools that send something wrong and then, unless {right: false}, the right answer ("right"):
 *   foreign_id {id}   an answer to an id nobody used (default 987654321)
 *   null_id           an error with id null
 *   no_id             an answer without id
 *   typed_id          an answer to the same id as another type: 1 → "1", "1" → 1 (or "1 " where that is no number)
 *   object_id         an answer whose id is {"id": …}
 *   wrong_version     an answer that says jsonrpc 1.0
 * twice: answers "right", then "second".
 * Tools that send only the wrong answer: both (result and error), neither, result_not_object {value}, error_string,
 * error_null, error_long {bytes} (default 1 MiB), error_no_code, content_not_array, content_missing, is_error_string.
 * Also echo, pid, canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, serve, takes, text } from './lib/server.mjs';

const wrong = text('wrong');

/** A tool that sends what `make` gives, then the right answer unless told not to. */
const thenRight = (description, make, properties = {}) => ({
  description: `${description}, then the right answer.`,
  inputSchema: takes({ right: 'boolean', ...properties }),
  run: (args, ctx) => {
    ctx.server.send(make(ctx.id, args));
    return args.right === false ? NO_ANSWER : 'right';
  },
});

/** A tool whose only answer is `make(args)` beside jsonrpc and id. */
const only = (description, make, properties = {}) => ({
  description,
  inputSchema: takes(properties),
  run: (args, ctx) => {
    ctx.server.send({ jsonrpc: '2.0', id: ctx.id, ...make(args) });
    return NO_ANSWER;
  },
});

const retyped = (id) =>
  typeof id === 'number' ? String(id) : Number.isSafeInteger(Number(id)) ? Number(id) : `${id} `;

serve({
  name: 'wrong-id',
  tools: {
    foreign_id: thenRight('An unknown id', (_id, { id = 987_654_321 }) => ({
      jsonrpc: '2.0',
      id,
      result: wrong,
    })),
    null_id: thenRight('An error with id null', () => ({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: 'I did not understand' },
    })),
    no_id: thenRight('An answer without id', () => ({ jsonrpc: '2.0', result: wrong })),
    typed_id: thenRight('The id as another type', (id) => ({
      jsonrpc: '2.0',
      id: retyped(id),
      result: wrong,
    })),
    object_id: thenRight('The id in an object', (id) => ({ jsonrpc: '2.0', id: { id }, result: wrong })),
    wrong_version: thenRight('An answer of JSON-RPC 1.0', (id) => ({ jsonrpc: '1.0', id, result: wrong })),
    twice: {
      description: 'Answers twice.',
      run: (_args, ctx) => {
        ctx.answer(text('right'));
        ctx.answer(text('second'));
        return NO_ANSWER;
      },
    },
    both: only('Result and error.', () => ({ result: wrong, error: { code: -32000, message: 'both' } })),
    neither: only('Neither result nor error.', () => ({})),
    result_not_object: only('A result that is no object.', ({ value = 'just text' }) => ({ result: value })),
    error_string: only('An error that is a string.', () => ({ error: 'it broke' })),
    error_null: only('An error that is null.', () => ({ error: null })),
    error_no_code: only('An error without code.', () => ({ error: { message: 'no code' } })),
    error_long: only(
      'An error with a very long message.',
      ({ bytes = 1_048_576 }) => ({ error: { code: -32001, message: 'm'.repeat(bytes) } }),
      { bytes: 'integer' },
    ),
    content_not_array: only('A result whose content is no array.', () => ({ result: { content: 'text' } })),
    content_missing: only('A result without content.', () => ({ result: { isError: false } })),
    is_error_string: only('A result with isError "yes".', () => ({ result: { ...wrong, isError: 'yes' } })),
    ...basicTools,
  },
});
