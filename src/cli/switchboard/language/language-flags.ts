import { usage, type ParsedArguments, type Flag } from '../../kit/arguments.ts';

/** The flags for the language model in front of a server. */
export interface LanguageChoice {
  readonly model?: string;
  readonly provider?: (typeof PROVIDERS)[number];
  readonly baseUrl?: string;
  readonly allowDestructive?: true;
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  readonly timeoutMs?: number;
}

const PROVIDERS = ['anthropic', 'openai', 'host'] as const;

/** The same flags for `wrap` and for the server that it creates. */
export const LANGUAGE_FLAGS: readonly Flag[] = [
  { name: 'model', value: 'NAME', summary: 'name of the model; "host" for the host\'s own model' },
  {
    name: 'provider',
    value: 'anthropic|openai|host',
    summary: 'API of the model (default: from its name)',
  },
  { name: 'base-url', value: 'URL', summary: "address of the model (default: its provider's)" },
  { name: 'allow-destructive', summary: 'run destructive tools without asking' },
  { name: 'max-steps', value: 'N', summary: 'turns of the model per request (default 12)' },
  { name: 'max-tokens', value: 'N', summary: 'tokens per request (default 100000)' },
  { name: 'timeout-ms', value: 'N', summary: 'time per request, in ms (default 180000)' },
];

/** The flags of a wrapper, which are the arguments in the .mcp.json of its folder. */
export const WRAPPER_FLAGS: readonly Flag[] = [
  ...LANGUAGE_FLAGS,
  {
    name: 'config',
    value: 'PATH',
    summary: 'a configuration file with time limits, relative to the folder',
  },
  { name: 'log-level', value: 'LEVEL', summary: 'debug, info, warn, error or silent' },
];

/** The default time limit of a request, in milliseconds. */
export const USUAL_TIMEOUT = 180_000;

export function languageIn({ flags }: Pick<ParsedArguments, 'flags'>): LanguageChoice {
  const model = flags.get('model');
  const provider = providerIn(flags.get('provider'));
  const baseUrl = addressIn(flags.get('base-url'));
  const maxSteps = numberIn(flags, 'max-steps', 1000);
  const maxTokens = numberIn(flags, 'max-tokens', 1_000_000_000);
  const timeoutMs = numberIn(flags, 'timeout-ms', 2_147_483_647);
  return {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(flags.has('allow-destructive') ? { allowDestructive: true } : {}),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** The flags for these choices. */
export function languageArguments(choice: LanguageChoice): string[] {
  const given = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}`, String(value)];
  return [
    ...given('model', choice.model),
    ...given('provider', choice.provider),
    ...given('base-url', choice.baseUrl),
    ...(choice.allowDestructive === true ? ['--allow-destructive'] : []),
    ...given('max-steps', choice.maxSteps),
    ...given('max-tokens', choice.maxTokens),
    ...given('timeout-ms', choice.timeoutMs),
  ];
}

function providerIn(text: string | undefined): LanguageChoice['provider'] {
  const found = PROVIDERS.find((each) => each === text);
  if (text === undefined || found !== undefined) return found;
  throw usage(
    `Unknown provider ${JSON.stringify(text)}.`,
    'Use anthropic, openai (any compatible API, also a local one) or host.',
  );
}

function addressIn(text: string | undefined): string | undefined {
  if (text === undefined || text.includes('${')) return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== ''))
    throw usage(
      '--base-url contains a user name or password, which would be written to a file.',
      'Remove it, and set the API key in the environment.',
    );
  if (url !== undefined && /^https?:$/.test(url.protocol)) return text;
  // The value is not shown, because it may contain anything.
  throw usage(
    '--base-url is not a valid URL.',
    'It must start with http:// or https://, for example http://localhost:11434/v1',
  );
}

/** A whole number from 1 to `most`. */
export function numberIn(flags: ParsedArguments['flags'], name: string, most: number): number | undefined {
  const text = flags.get(name);
  if (text === undefined) return undefined;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  throw usage(`--${name} must be a whole number from 1 to ${most}.`);
}
