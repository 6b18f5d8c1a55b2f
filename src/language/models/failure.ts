import { SwitchboardError } from '../../shared/errors.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { printableLine } from '../../shared/printable.ts';
import { secretMask } from '../../shared/secrets.ts';
import { TransientFailure } from './retry.ts';

/** Where a model is reached. */
export interface Endpoint {
  readonly provider: 'anthropic' | 'openai';
  readonly model: string;
  readonly url: URL;
  /** Undefined if none is sent. */
  readonly apiKey: string | undefined;
}

/** A response with an error. */
export interface ModelRefusal {
  readonly status: number;
  /** The API's own names for the kind of error. */
  readonly kinds: readonly string[];
  readonly message: string | undefined;
  readonly headers: Headers | undefined;
}

/** The result of an error response: an error for a person, or a transient failure. */
export function failureOf(endpoint: Endpoint, refusal: ModelRefusal): SwitchboardError | TransientFailure {
  const { status, kinds } = refusal;
  const who = nameOf(endpoint);
  const told = `status ${status}${quote(endpoint, refusal.message)}`;
  if (isQuota(refusal)) {
    return new SwitchboardError(
      'LANGUAGE_QUOTA',
      `${who} has no quota or credit left for this key (${told}).`,
      {
        hint: `Add credit at the provider of the key, or ${ANOTHER_MODEL}.`,
      },
    );
  }
  if (status === 401 || status === 403) return keyRefused(endpoint, status);
  if (status === 404) {
    return new SwitchboardError('LANGUAGE_MODEL_UNKNOWN', `${who} does not exist (${told}).`, {
      hint: `Correct "model" or "baseUrl" under "language" of the server, or ${MODEL_VARIABLE} and ${URL_VARIABLE}.`,
    });
  }
  if (status === 413 || isTooLong(refusal)) {
    return new SwitchboardError(
      'LANGUAGE_TOO_LONG',
      `${who} received more input than it can read (${told}).`,
      {
        hint: 'Ask for less at a time, let it use fewer tools (exposedTools, hiddenTools of the server), or use a model with a larger context window.',
      },
    );
  }
  const passes = passingReason(status, kinds);
  if (passes === undefined) {
    return new SwitchboardError('LANGUAGE_REQUEST_REFUSED', `${who} refused the request (${told}).`, {
      hint: `Check "model" and "baseUrl" under "language" of the server, or ${ANOTHER_MODEL}.`,
    });
  }
  const code = passes === 'it failed' ? 'LANGUAGE_FAILED' : 'LANGUAGE_OVERLOADED';
  const error = new SwitchboardError(code, `${who} did not respond: ${passes} (${told}).`, {
    hint: `Try again later, or ${ANOTHER_MODEL}.`,
  });
  return new TransientFailure(`${passes} (status ${status})`, error, waitAsked(refusal.headers));
}

/** The connection failed before any response. */
export function modelUnreachable(endpoint: Endpoint, cause: unknown): TransientFailure {
  const why = codeOf(cause);
  const error = new SwitchboardError(
    'LANGUAGE_UNREACHABLE',
    `${nameOf(endpoint)} cannot be reached (${why}).`,
    {
      hint: `Check the network, that it is running, and "baseUrl" under "language" of the server (or ${URL_VARIABLE}).`,
      cause,
    },
  );
  return new TransientFailure(`it cannot be reached (${why})`, error);
}

/** The response began but did not finish. */
export function brokenOff(endpoint: Endpoint, cause?: unknown): SwitchboardError {
  const why = cause === undefined ? '' : ` (${codeOf(cause)})`;
  return new SwitchboardError(
    'LANGUAGE_BROKEN_OFF',
    `${nameOf(endpoint)} closed the connection in the middle of its response${why}.`,
    { hint: 'Try again.', cause },
  );
}

/** The response does not match the API. */
export function badOutput(endpoint: Endpoint, what: string): SwitchboardError {
  return new SwitchboardError('LANGUAGE_BAD_OUTPUT', `${nameOf(endpoint)} ${what}.`, {
    hint: `Check that "baseUrl" under "language" of the server is an API of this kind, or ${ANOTHER_MODEL}.`,
  });
}

/** A required key is missing. */
export function keyMissing({ provider, model, url }: Omit<Endpoint, 'apiKey'>): SwitchboardError {
  return new SwitchboardError(
    'LANGUAGE_KEY_MISSING',
    `No API key is set for model '${model}' at ${url.host}.`,
    {
      hint: `Set ${KEY_VARIABLE[provider]} or "apiKey" under "language" of the server, or ${ANOTHER_MODEL}.`,
    },
  );
}

const KEY_VARIABLE = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' };
const MODEL_VARIABLE = 'SWITCHBOARD_LANGUAGE_MODEL';
const URL_VARIABLE = 'SWITCHBOARD_LANGUAGE_BASE_URL';
const ANOTHER_MODEL = 'set another model as "model" ("host" uses the model of the client)';

function nameOf({ model, url }: Endpoint): string {
  return `Model '${model}' at ${url.host}`;
}

function keyRefused(endpoint: Endpoint, status: number): SwitchboardError {
  if (endpoint.apiKey === undefined) return keyMissing(endpoint);
  // The API's message about a key is not repeated: some contain a part of the key.
  return new SwitchboardError(
    'LANGUAGE_KEY_REFUSED',
    `${nameOf(endpoint)} rejected the API key (status ${status}).`,
    {
      hint:
        `Check ${KEY_VARIABLE[endpoint.provider]} or "apiKey" under "language" of the server` +
        `${status === 403 ? ', and that the key has access to this model' : ''}.`,
    },
  );
}

function isQuota({ status, kinds, message = '' }: ModelRefusal): boolean {
  if (status === 402 || kinds.includes('insufficient_quota') || kinds.includes('billing_error')) return true;
  return status === 400 && /credit balance/i.test(message);
}

function isTooLong({ status, kinds, message = '' }: ModelRefusal): boolean {
  if (kinds.includes('context_length_exceeded')) return true;
  return status === 400 && /too long|context (length|window|size)|maximum context/i.test(message);
}

/** Undefined if the error would be the same next time. */
function passingReason(status: number, kinds: readonly string[]): string | undefined {
  if (status === 529 || status === 503 || kinds.includes('overloaded_error')) return 'it is overloaded';
  if (status === 429) return 'its rate limit is exceeded';
  if (status === 408 || (status >= 500 && status !== 501)) return 'it failed';
  return undefined;
}

/** In milliseconds. The header contains seconds or a date. */
function waitAsked(headers: Headers | undefined): number | undefined {
  const exact = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (exact >= 0) return exact;
  const value = headers?.get('retry-after') ?? '';
  const seconds = Number(value);
  if (value !== '' && seconds >= 0) return seconds * 1000;
  const until = Date.parse(value) - Date.now();
  return Number.isNaN(until) ? undefined : Math.max(until, 0);
}

/** The longest quote of a provider's message, in characters. */
const QUOTE = 300;

function quote({ apiKey }: Endpoint, message: string | undefined): string {
  if (message === undefined || message.trim() === '') return '';
  const said = secretMask(apiKey === undefined ? [] : [apiKey])(printableLine(message.trim()));
  return `: ${said.length > QUOTE ? `${said.slice(0, QUOTE)}…` : said}`;
}

/** `ECONNREFUSED` is a cause of `fetch failed`, sometimes deeply nested. */
function codeOf(cause: unknown): string {
  let named = '';
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = nodeErrorCode(error);
    if (code !== undefined) return code;
    named = error.message;
  }
  return printableLine(named === '' ? 'no reason given' : named.slice(0, QUOTE));
}
