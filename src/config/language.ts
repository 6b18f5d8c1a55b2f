import { resolve as resolvePath } from 'node:path';
import type { ServerCandidate } from './candidate.ts';
import { DEFAULTS } from './defaults.ts';
import type { LanguageDefinition } from './definition.ts';
import type { ReferenceFiller } from './filler.ts';
import type { StdioServer } from './schema/config.ts';

/** The configured language model in front of a server, with references filled in; undefined if there is none. */
export function languageOf(
  candidate: ServerCandidate,
  given: StdioServer['language'],
  filler: ReferenceFiller,
): LanguageDefinition | undefined {
  if (given === undefined || given === false) return undefined;
  const said = given === true ? {} : given;
  const locationOf = (key: string) => ({ file: candidate.file, path: [...candidate.path, 'language', key] });
  const filled = (
    key: 'model' | 'baseUrl' | 'apiKey' | 'instructions' | 'instructionsFile',
  ): string | undefined => {
    const text = said[key];
    // An empty text counts as unset: `${NAME:-}` results in one if NAME is not set.
    return text === undefined ? undefined : filler.fill(text, locationOf(key)).trim() || undefined;
  };
  const baseUrl = filled('baseUrl');
  if (baseUrl !== undefined && !isWebAddress(baseUrl))
    filler.fail(locationOf('baseUrl'), 'is not a valid URL, such as http://localhost:11434/v1');
  const instructionsFile = filled('instructionsFile');
  const {
    allowDestructive = DEFAULTS.language.allowDestructive,
    maxSteps = DEFAULTS.language.maxSteps,
    maxTokens = DEFAULTS.language.maxTokens,
    timeoutMs = DEFAULTS.language.timeoutMs,
  } = said;
  return {
    model: filled('model'),
    provider: said.provider,
    baseUrl,
    apiKey: filled('apiKey'),
    instructions: filled('instructions'),
    instructionsFile:
      instructionsFile === undefined ? undefined : resolvePath(candidate.directory, instructionsFile),
    ...{ allowDestructive, maxSteps, maxTokens, timeoutMs },
  };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}
