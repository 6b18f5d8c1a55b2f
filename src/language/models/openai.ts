import type { JsonObject } from '../../protocol/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { parseJson } from '../../shared/parse-json.ts';
import type { Model, ModelReply, ModelRequest } from '../model.ts';
import { OPENAI_URL } from './address.ts';
import { bounded } from './bounded.ts';
import { eventData } from './event-data.ts';
import {
  badOutput,
  brokenOff,
  failureOf,
  modelUnreachable,
  type Endpoint,
  type ModelRefusal,
} from './failure.ts';
import { OpenaiReply } from './openai-reply.ts';
import { openaiRequest, type Dialect } from './openai-request.ts';
import { OversizedReply } from './reply-size.ts';
import { TransientFailure, withRetries, type RetryLimits } from './retry.ts';

/** A model with any OpenAI-compatible API, including one on this machine. */
export function openaiModel(endpoint: Endpoint, limits?: RetryLimits): Model {
  const speaker = new Speaker(endpoint);
  return {
    provider: 'openai',
    name: endpoint.model,
    reply: (request) => {
      const { signal, onRetry } = request;
      return withRetries(() => speaker.ask(request), { signal, onRetry, limits });
    },
  };
}

class Speaker {
  readonly #endpoint: Endpoint;
  readonly #address: string;
  #dialect: Dialect;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    const address = new URL(endpoint.url);
    address.pathname = `${address.pathname.replace(/\/$/, '')}/chat/completions`;
    this.#address = address.href;
    // OpenAI's newer models require the newer name, and most other servers only support the older one.
    const newer = endpoint.url.origin === new URL(OPENAI_URL).origin;
    this.#dialect = {
      limit: newer ? 'max_completion_tokens' : 'max_tokens',
      longest: Infinity,
      usage: true,
    };
  }

  async ask(request: ModelRequest): Promise<ModelReply> {
    for (;;) {
      const response = await this.#post(request);
      if (response.ok) return await this.#hear(response, request.signal);
      const refusal = await refusalOf(response);
      if (!this.#adapt(refusal, request.maxTokens)) throw failureOf(this.#endpoint, refusal);
    }
  }

  async #post(request: ModelRequest): Promise<Response> {
    const { apiKey, model } = this.#endpoint;
    try {
      const response = await fetch(this.#address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream, application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(openaiRequest(model, request, this.#dialect)),
        signal: request.signal,
        // A redirect could carry the request elsewhere.
        redirect: 'manual',
      });
      return bounded(response, this.#endpoint);
    } catch (cause) {
      throw modelUnreachable(this.#endpoint, cause);
    }
  }

  async #hear(response: Response, signal: AbortSignal): Promise<ModelReply> {
    const heard = new OpenaiReply();
    let done = false;
    try {
      if (response.headers.get('content-type')?.includes('application/json')) {
        this.#take(await response.text(), heard);
      } else {
        for await (const data of eventData((response.body as AsyncIterable<Uint8Array> | null) ?? [])) {
          if (data === '[DONE]') {
            done = true;
            break;
          }
          this.#take(data, heard);
        }
      }
    } catch (error) {
      if (error instanceof SwitchboardError || error instanceof TransientFailure) throw error;
      if (error instanceof OversizedReply) throw badOutput(this.#endpoint, error.message);
      throw brokenOff(this.#endpoint, error);
    }
    signal.throwIfAborted();
    if (!done && !heard.finished) throw brokenOff(this.#endpoint);
    return heard.reply();
  }

  #take(text: string, heard: OpenaiReply): void {
    const piece = parseJson(text);
    if (!isObject(piece)) throw badOutput(this.#endpoint, 'sent a response that is not JSON');
    // A response can begin successfully and then fail.
    if (piece.error !== undefined && piece.error !== null) {
      const said = saidIn(piece);
      const { code } = isObject(piece.error) ? piece.error : {};
      const status = typeof code === 'number' && code >= 400 ? code : 500;
      throw failureOf(this.#endpoint, { status, ...said, headers: undefined });
    }
    heard.take(piece);
  }

  /** Adapts to an error of the server. Returns whether there was anything left to change. */
  #adapt({ status, message = '' }: ModelRefusal, asked: number): boolean {
    if (status !== 400 && status !== 422) return false;
    const { limit, longest, usage } = this.#dialect;
    const shorter = Math.floor(Math.min(asked, longest) / 4);
    if (usage && message.includes('stream_options')) this.#dialect = { ...this.#dialect, usage: false };
    else if (limit === 'max_tokens' && message.includes('max_completion_tokens')) {
      this.#dialect = { ...this.#dialect, limit: 'max_completion_tokens' };
    } else if (TOO_LONG_AN_ANSWER.test(message) && shorter >= SHORTEST_ANSWER) {
      this.#dialect = { ...this.#dialect, longest: shorter };
    } else return false;
    return true;
  }
}

/** Many models on this machine have a short context, of which the maximum response is reserved from the beginning. */
const TOO_LONG_AN_ANSWER = /max_(completion_)?tokens|completion tokens|context (length|window|size)/i;

/** Less than this is useless, in tokens. */
const SHORTEST_ANSWER = 256;

async function refusalOf(response: Response): Promise<ModelRefusal> {
  // The status is enough if the rest cannot be read.
  const text = await response.text().catch(() => '');
  return { status: response.status, ...saidIn(parseJson(text)), headers: response.headers };
}

/** Compatible servers differ most in the form of their errors. */
function saidIn(body: unknown): Pick<ModelRefusal, 'kinds' | 'message'> {
  const whole: JsonObject = isObject(body) ? body : {};
  const first: unknown = Array.isArray(body) ? body[0] : undefined;
  if (isObject(first)) return saidIn(first);
  const error: JsonObject = isObject(whole.error) ? whole.error : whole;
  const message = [error.message, whole.error, whole.detail].find((said) => typeof said === 'string');
  const kinds = [error.type, error.code].filter((kind) => typeof kind === 'string');
  return { kinds, message };
}
