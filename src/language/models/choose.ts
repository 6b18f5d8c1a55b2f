import type { LanguageDefinition } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { AskClient, Model } from '../model.ts';
import { ANTHROPIC_URL, anthropicUrl, OPENAI_URL, openaiUrl } from './address.ts';
import { keyMissing } from './failure.ts';
import type { RetryLimits } from './retry.ts';

type Settings = Pick<LanguageDefinition, 'model' | 'provider' | 'baseUrl' | 'apiKey'>;

/** Small, fast, and good with tools. */
const DEFAULT_MODEL = 'claude-haiku-5-5';

/**
 * The configured model, otherwise the one that the environment selects; without any key, the client's. Rejects if
 * something is missing. `ask` is undefined if the client offers no model.
 */
export async function chooseModel(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  ask: AskClient | undefined,
  limits?: RetryLimits,
): Promise<Model> {
  const name = given(settings.model) ?? given(env.SWITCHBOARD_LANGUAGE_MODEL);
  const baseUrl = given(settings.baseUrl) ?? given(env.SWITCHBOARD_LANGUAGE_BASE_URL);
  const claudeKey = given(settings.apiKey) ?? given(env.ANTHROPIC_API_KEY) ?? given(env.CLAUDE_API_KEY);
  switch (settings.provider ?? providerOf(name, baseUrl, claudeKey)) {
    case 'host':
      return theHost(ask, name);
    case 'anthropic': {
      const model = name ?? DEFAULT_MODEL;
      const url = anthropicUrl(baseUrl ?? given(env.ANTHROPIC_BASE_URL) ?? ANTHROPIC_URL);
      if (claudeKey === undefined) throw keyMissing({ provider: 'anthropic', model, url });
      const { anthropicModel } = await import('./anthropic.ts');
      return anthropicModel({ provider: 'anthropic', model, url, apiKey: sendable(claudeKey) }, limits);
    }
    case 'openai': {
      const url = openaiUrl(baseUrl ?? given(env.OPENAI_BASE_URL) ?? OPENAI_URL);
      if (name === undefined) throw noName(url);
      const key = given(settings.apiKey) ?? given(env.OPENAI_API_KEY);
      // Others may not need one, for example a server on this machine.
      if (key === undefined && url.href === OPENAI_URL)
        throw keyMissing({ provider: 'openai', model: name, url });
      const apiKey = key === undefined ? undefined : sendable(key);
      const { openaiModel } = await import('./openai.ts');
      return openaiModel({ provider: 'openai', model: name, url, apiKey }, limits);
    }
  }
}

function providerOf(
  name: string | undefined,
  baseUrl: string | undefined,
  claudeKey: string | undefined,
): 'anthropic' | 'openai' | 'host' {
  if (name === 'host') return 'host';
  if (name !== undefined) return /^claude/i.test(name) ? 'anthropic' : 'openai';
  if (baseUrl !== undefined) return 'openai';
  return claudeKey === undefined ? 'host' : 'anthropic';
}

async function theHost(ask: AskClient | undefined, name: string | undefined): Promise<Model> {
  if (ask !== undefined) {
    const { hostModel } = await import('./host.ts');
    return hostModel(ask, name === 'host' ? undefined : name);
  }
  throw new SwitchboardError(
    'LANGUAGE_NO_MODEL',
    'No language model is available: no API key is set, and this client does not offer its own model (sampling with tools).',
    {
      hint: 'Set ANTHROPIC_API_KEY, or "model" and "apiKey" or "baseUrl" under "language" of the server, or use a client that supports sampling with tools.',
    },
  );
}

function noName(url: URL): SwitchboardError {
  return new SwitchboardError('LANGUAGE_MODEL_MISSING', `No model is set for ${url.host}.`, {
    hint: 'Set "model" under "language" of the server, or SWITCHBOARD_LANGUAGE_MODEL; for an Anthropic model behind a proxy, "provider": "anthropic" is enough.',
  });
}

/** An empty variable counts as not set. */
function given(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** The HTTP client would include a key that it cannot send in its error. */
function sendable(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new SwitchboardError(
    'LANGUAGE_KEY_REFUSED',
    'The API key for the model contains invalid characters.',
    {
      hint: 'Copy it again: "apiKey" under "language" of the server, ANTHROPIC_API_KEY or OPENAI_API_KEY.',
    },
  );
}
