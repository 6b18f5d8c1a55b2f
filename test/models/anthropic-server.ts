import type { TestScope } from '../helpers/cleanup.ts';
import { checkAnthropicRequest } from './anthropic-rules.ts';
import { startModelServer, type ModelServer, type Speech } from './model-server.ts';
import type { Script, ScriptedCall, ScriptedFailure, ScriptedSpeech } from './script.ts';

/**
 * A scripted model that speaks the Anthropic Messages API at `POST /v1/messages`, streaming and not, and refuses what
 * that API refuses.
 */
export function startAnthropicServer(script: Script, scope?: TestScope): Promise<ModelServer> {
  return startModelServer(SPEECH, script, scope);
}

const KINDS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const STOPS = { done: 'end_turn', calls: 'tool_use', length: 'max_tokens', refused: 'refusal' };

const SPEECH: Speech = {
  path: '/v1/messages',
  check: checkAnthropicRequest,
  failure,
  whole: (turn, body) => ({
    ...opening(body),
    content: blocks(turn).map((block) => block.whole),
    stop_reason: STOPS[stopOf(turn)],
    ...(turn.usage === null ? {} : { usage: usageOf(turn) }),
  }),
  events,
  overloaded: event('error', failure({ status: 529, message: 'Overloaded' })),
  chatter: () =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'bla '.repeat(16_384) } }),
};

function failure({ status, kind, message }: ScriptedFailure): object {
  const type = kind ?? KINDS[status] ?? 'api_error';
  return {
    type: 'error',
    error: { type, message: message ?? `Status ${status}` },
    request_id: 'req_scripted',
  };
}

let lastId = 0;

function opening(body: any): object {
  return {
    id: `msg_${++lastId}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    stop_sequence: null,
  };
}

function stopOf(turn: ScriptedSpeech): keyof typeof STOPS {
  return turn.stop ?? ((turn.calls ?? []).length > 0 ? 'calls' : 'done');
}

function usageOf({ usage }: ScriptedSpeech): object {
  return { input_tokens: usage?.input ?? 100, output_tokens: usage?.output ?? 10 };
}

interface Block {
  readonly whole: object;
  /** As it is in the event that opens it. */
  readonly empty: object;
  readonly deltas: readonly object[];
}

function blocks(turn: ScriptedSpeech): Block[] {
  const all: Block[] = [];
  if (turn.thinking !== undefined) all.push(thinking(turn.thinking));
  if (turn.text !== undefined && turn.text !== '') all.push(text(turn.text));
  if (turn.midway === 'flood' && all.length === 0) all.push(text('bla '));
  for (const call of turn.calls ?? []) all.push(toolUse(call));
  return all;
}

function text(whole: string): Block {
  return {
    whole: { type: 'text', text: whole },
    empty: { type: 'text', text: '' },
    deltas: halves(whole).map((part) => ({ type: 'text_delta', text: part })),
  };
}

function thinking(whole: string): Block {
  const signature = Buffer.from(whole).toString('base64');
  return {
    whole: { type: 'thinking', thinking: whole, signature },
    empty: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...halves(whole).map((part) => ({ type: 'thinking_delta', thinking: part })),
      { type: 'signature_delta', signature },
    ],
  };
}

function toolUse({ id = `toolu_${++lastId}`, name, input, inputText }: ScriptedCall): Block {
  const written = inputText ?? (input === undefined ? '' : JSON.stringify(input));
  return {
    whole: { type: 'tool_use', id, name, input: input ?? inputText ?? {} },
    empty: { type: 'tool_use', id, name, input: {} },
    // The first piece is empty, as it is from the real one.
    deltas: ['', ...halves(written)].map((part) => ({ type: 'input_json_delta', partial_json: part })),
  };
}

function halves(whole: string): string[] {
  const middle = Math.ceil(whole.length / 2);
  return [whole.slice(0, middle), whole.slice(middle)].filter((part) => part !== '');
}

function events(turn: ScriptedSpeech, body: any): readonly string[] {
  const told = turn.usage !== null;
  const counted = usageOf(turn);
  const message = { ...opening(body), content: [], stop_reason: null };
  const begun = told ? { ...message, usage: { ...counted, output_tokens: 1 } } : message;
  return [
    event('message_start', { message: begun }),
    event('ping', {}),
    ...blocks(turn).flatMap(({ empty, deltas }, index) => [
      event('content_block_start', { index, content_block: empty }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', {
      delta: { stop_reason: STOPS[stopOf(turn)], stop_sequence: null },
      ...(told ? { usage: counted } : {}),
    }),
    event('message_stop', {}),
  ];
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
