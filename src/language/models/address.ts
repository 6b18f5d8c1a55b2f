import { SwitchboardError } from '../../shared/errors.ts';

/** The default address of Anthropic's API. */
export const ANTHROPIC_URL = 'https://api.anthropic.com';

/** The default address of OpenAI's API. */
export const OPENAI_URL = 'https://api.openai.com/v1';

/** The address of an Anthropic-compatible API, without the `/v1`, which is part of every path there. */
export function anthropicUrl(text: string): URL {
  const url = addressOf(text);
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1(\/messages)?$/, '');
  return url;
}

/** The address of an OpenAI-compatible API, with `/v1` unless it already has a path: some servers use another one. */
export function openaiUrl(text: string): URL {
  const url = addressOf(text);
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  url.pathname = path === '' ? '/v1' : path;
  return url;
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url;
  // The address is not repeated, because it may contain a password.
  throw new SwitchboardError(
    'LANGUAGE_BAD_ADDRESS',
    'The model address is not an http(s) URL, or it contains a password.',
    {
      hint: 'Correct "baseUrl" under "language" of the server, or SWITCHBOARD_LANGUAGE_BASE_URL, ANTHROPIC_BASE_URL, OPENAI_BASE_URL.',
    },
  );
}
