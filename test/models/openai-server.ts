import type { TestScope } from '../helpers/cleanup.ts';
import { startModelServer, type ModelServer, type Speech } from './model-server.ts';
import { openaiRules } from './openai-rules.ts';
import type { Script, ScriptedCall, ScriptedFailure, ScriptedSpeech } from './script.ts';

export interface OpenaiServerOptions {
  /** The key it wants. Default: any, and none will do as well, as with a model on one's own machine. */
  readonly key?: string;
  /** Models it has; another is answered with 404. Default: every. */
  readonly models?: readonly string[];
  /** Whether it says how many tokens it took when it is asked to. Default true. */
  readonly tellsUsage?: boolean;
  /** Whether it can stream; if not, it answers in one piece whatever it is asked. Default true. */
  readonly streams?: boolean;
  /** Parameters it does not know, and refuses. */
  readonly refuses?: readonly string[];
  /** Default `/v1/chat/completions`. */
  readonly path?: string;
}

/**
 * A scripted model that speaks the API of OpenAI at `POST /v1/chat/completions`, streaming and not, and refuses what that
 * API refuses.
 */
export function startOpenaiServer(
  script: Script,
  options: OpenaiServerOptions = {},
  scope?: TestScope,
): Promise<ModelServer> {
  return startModelServer(speechOf(options), script, scope);
}

const KINDS: Record<number, readonly [type: string, code: string | null]> = {
  400: ['invalid_request_error', null],
  401: ['invalid_request_error', 'invalid_api_key'],
  404: ['invalid_request_error', 'model_not_found'],
  429: ['requests', 'rate_limit_exceeded'],
};

const STOPS = { done: 'stop', calls: 'tool_calls', length: 'length', refused: 'content_filter' };

function speechOf(options: OpenaiServerOptions): Speech {
  const { tellsUsage = true, streams = true } = options;
  return {
    path: options.path ?? '/v1/chat/completions',
    check: openaiRules(options),
    streams,
    failure,
    whole: (turn, body) => ({
      ...opening(body, 'chat.completion'),
      choices: [{ index: 0, message: message(turn), logprobs: null, finish_reason: STOPS[stopOf(turn)] }],
      ...(tellsUsage && turn.usage !== null ? { usage: usageOf(turn) } : {}),
    }),
    events: (turn, body) => events(turn, body, tellsUsage && turn.usage !== null),
    overloaded: chunk(failure({ status: 503, message: 'The engine is overloaded' })),
    chatter: () => chunk({ choices: [{ index: 0, delta: { content: 'bla '.repeat(16_384) } }] }),
  };
}

function failure({ status, kind, message: said }: ScriptedFailure): object {
  const [type, code] = KINDS[status] ?? ['server_error', null];
  return { error: { message: said ?? `Status ${status}`, type, param: null, code: kind ?? code } };
}

let lastId = 0;

function opening(body: any, object: string): object {
  return { id: `chatcmpl-${++lastId}`, object, created: 1_700_000_000, model: body.model };
}

function stopOf(turn: ScriptedSpeech): keyof typeof STOPS {
  return turn.stop ?? ((turn.calls ?? []).length > 0 ? 'calls' : 'done');
}

function usageOf({ usage }: ScriptedSpeech): object {
  const input = usage?.input ?? 100;
  const output = usage?.output ?? 10;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function message({ text, calls = [] }: ScriptedSpeech): object {
  return {
    role: 'assistant',
    content: text ?? null,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls.map(toolCall) } : {}),
  };
}

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

function toolCall({ id = `call_${++lastId}`, name, input, inputText }: ScriptedCall): ToolCall {
  return { id, type: 'function', function: { name, arguments: inputText ?? JSON.stringify(input ?? {}) } };
}

function events(turn: ScriptedSpeech, body: any, tells: boolean): readonly string[] {
  const start = opening(body, 'chat.completion.chunk');
  const asked = body.stream_options?.include_usage === true && tells;
  const step = (delta: object, finish: string | null = null): string =>
    chunk({
      ...start,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(asked ? { usage: null } : {}),
    });
  const said = turn.text ?? (turn.midway === 'flood' ? 'bla ' : '');
  return [
    step({ role: 'assistant', content: said === '' ? null : '', refusal: null }),
    ...halves(said).map((content) => step({ content })),
    ...(turn.calls ?? [])
      .map(toolCall)
      .flatMap(({ id, type, function: { name, arguments: text } }, index) => [
        step({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
        ...halves(text).map((part) => step({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
    step({}, STOPS[stopOf(turn)]),
    ...(asked ? [chunk({ ...start, choices: [], usage: usageOf(turn) })] : []),
    'data: [DONE]\n\n',
  ];
}

function halves(whole: string): string[] {
  const middle = Math.ceil(whole.length / 2);
  return [whole.slice(0, middle), whole.slice(middle)].filter((part) => part !== '');
}

function chunk(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
