import type { Anthropic, APIError } from '@anthropic-ai/sdk';
import { SwitchboardError } from '../../shared/errors.ts';
import { Turns } from '../../shared/turns.ts';
import type { Model, ModelReply, ModelRequest } from '../model.ts';
import { ANTHROPIC_URL } from './address.ts';
import { AnthropicReply } from './anthropic-reply.ts';
import { anthropicRequest } from './anthropic-request.ts';
import { bounded } from './bounded.ts';
import { badOutput, brokenOff, failureOf, modelUnreachable, type Endpoint } from './failure.ts';
import { OversizedReply } from './reply-size.ts';
import { TransientFailure, withRetries, type RetryLimits } from './retry.ts';

type KeyedEndpoint = Endpoint & { readonly apiKey: string };

/** A model with the Anthropic Messages API. */
export function anthropicModel(endpoint: KeyedEndpoint, limits?: RetryLimits): Model {
  let client: Promise<Anthropic> | undefined;
  return {
    provider: 'anthropic',
    name: endpoint.model,
    reply: async (request) => {
      const { signal, onRetry } = request;
      const ready = await (client ??= clientFor(endpoint));
      return withRetries(() => ask(ready, endpoint, request), { signal, onRetry, limits });
    },
  };
}

/** The library is large, so it is loaded only when a model is used. */
async function clientFor(endpoint: KeyedEndpoint): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({
    apiKey: endpoint.apiKey,
    baseURL: endpoint.url.href.replace(/\/$/, ''),
    // Proxies and compatible servers often support only the older header.
    ...(endpoint.url.origin === ANTHROPIC_URL ? {} : { defaultHeaders: { 'x-api-key': endpoint.apiKey } }),
    // We retry ourselves, so that the waiting client is informed.
    maxRetries: 0,
    // A redirect could carry the key elsewhere.
    fetchOptions: { redirect: 'manual' },
    fetch: async (url, init) => bounded(await fetch(url, init), endpoint),
    // It would print responses that it cannot parse.
    logLevel: 'off',
    openTelemetry: false,
  });
}

async function ask(client: Anthropic, endpoint: Endpoint, request: ModelRequest): Promise<ModelReply> {
  const heard = new AnthropicReply();
  const { signal } = request;
  let begun = false;
  try {
    const stream = await client.messages.create(anthropicRequest(endpoint.model, request), { signal });
    begun = true;
    const turns = new Turns();
    for await (const event of stream) {
      heard.take(event);
      // Thousands of events may arrive at once.
      const turn = turns.next();
      if (turn !== undefined) await turn;
    }
  } catch (error) {
    throw reasonOf(error, endpoint, begun);
  }
  // The library ends a stream silently when it is aborted.
  signal.throwIfAborted();
  if (!heard.complete) throw brokenOff(endpoint);
  return heard.reply();
}

function reasonOf(error: unknown, endpoint: Endpoint, begun: boolean): Error {
  if (error instanceof SwitchboardError || error instanceof TransientFailure) return error;
  if (error instanceof OversizedReply) return badOutput(endpoint, error.message);
  if (error instanceof SyntaxError) return badOutput(endpoint, 'sent an event that is not JSON');
  const said = error as Partial<APIError>;
  const kind = said.type ?? undefined;
  const status = said.status ?? STATUS[kind ?? ''];
  if (status === undefined) return begun ? brokenOff(endpoint, error) : modelUnreachable(endpoint, error);
  const { message } = (said.error as { error?: { message?: unknown } } | undefined)?.error ?? {};
  return failureOf(endpoint, {
    status,
    kinds: kind === undefined ? [] : [kind],
    message: typeof message === 'string' ? message : undefined,
    headers: said.headers,
  });
}

/** An error in the middle of a stream has a type but no status. */
const STATUS: Partial<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};
