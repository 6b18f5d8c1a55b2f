import { ServerError } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import type { AskClient, Model, ModelReply, ModelRequest, ToolUse, ModelMessage } from '../model.ts';
import { parseToolInput } from './parse-tool-input.ts';

/** The client's own model, reached with `sampling/createMessage`. `wanted`: a model that it may prefer. */
export function hostModel(ask: AskClient, wanted?: string): Model {
  return {
    provider: 'host',
    name: 'host',
    reply: async (request) => {
      const { signal } = request;
      signal.throwIfAborted();
      try {
        return replyOf(await ask('sampling/createMessage', paramsOf(request, wanted), signal));
      } catch (error) {
        signal.throwIfAborted();
        throw reasonOf(error);
      }
    },
  };
}

function paramsOf(request: ModelRequest, wanted: string | undefined): JsonObject {
  const { system, tools, maxTokens, turns } = request;
  return {
    messages: turns.map(messageOf),
    ...(wanted === undefined ? {} : { modelPreferences: { hints: [{ name: wanted }] } }),
    ...(system.trim() === '' ? {} : { systemPrompt: system }),
    maxTokens,
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ ...tool })), toolChoice: { mode: 'auto' } }),
  };
}

function messageOf(turn: ModelMessage): JsonObject {
  switch (turn.from) {
    case 'user':
      return { role: 'user', content: { type: 'text', text: turn.text } };
    case 'model':
      return { role: 'assistant', content: turn.reply.raw };
    // A message with results must not contain anything else.
    case 'tools':
      return {
        role: 'user',
        content: turn.results.map(({ id, content, isError }) => ({
          type: 'tool_result',
          toolUseId: id,
          content,
          ...(isError ? { isError } : {}),
        })),
      };
  }
}

function replyOf(result: JsonObject): ModelReply {
  const blocks = (Array.isArray(result.content) ? result.content : [result.content]) as unknown[];
  if (!blocks.every(isObject)) throw badAnswer();
  const calls: ToolUse[] = [];
  let text = '';
  const raw = blocks.map((block) => {
    if (block.type === 'text' && typeof block.text === 'string') text += block.text;
    if (block.type !== 'tool_use') return block;
    if (typeof block.id !== 'string' || typeof block.name !== 'string') throw badAnswer();
    const written = parseToolInput(block.input);
    calls.push({ id: block.id, name: block.name, ...written });
    return { ...block, input: written.input ?? {} };
  });
  return {
    text,
    calls,
    stop: stopOf(result.stopReason, calls.length > 0),
    usage: undefined,
    raw: raw.length > 0 ? raw : [{ type: 'text', text: '' }],
  };
}

function stopOf(reason: unknown, calling: boolean): ModelReply['stop'] {
  if (reason === 'maxTokens') return 'length';
  // Not among the standard reasons, but used by models.
  if (reason === 'refusal' || reason === 'content_filter') return 'refused';
  return calling ? 'calls' : 'done';
}

function badAnswer(): SwitchboardError {
  return new SwitchboardError(
    'LANGUAGE_BAD_OUTPUT',
    'The response of the client to sampling/createMessage is not a valid model message.',
    { hint: `This is a bug in the client. ${OWN_MODEL}` },
  );
}

/** The code for a user's refusal in the protocol's own example. */
const REJECTED = -1;

function reasonOf(error: unknown): unknown {
  if (!(error instanceof ServerError)) return error;
  const { rpcCode, message } = error;
  if (rpcCode === REJECTED || /\b(rejected|denied|declined)\b/i.test(message)) {
    return new SwitchboardError('LANGUAGE_REFUSED', 'The client refused to use its model for this request.', {
      hint: `Allow it in the client when it asks. ${OWN_MODEL}`,
      cause: error,
    });
  }
  return new SwitchboardError(
    'LANGUAGE_FAILED',
    `The client could not use its model (${rpcCode}): ${message.slice(0, 300)}`,
    { hint: OWN_MODEL, cause: error },
  );
}

const OWN_MODEL =
  'Or use your own model: set ANTHROPIC_API_KEY, or "model" and "apiKey" or "baseUrl" under "language" of the server.';
