import { basename, dirname } from 'node:path';
import type { ServerDefinition } from '../config/index.ts';
import { isWrapper } from '../language/index.ts';
import { WRAP_CONFIG_FILE, readFolderState } from '../language/wrap/index.ts';
import { parseArguments } from './arguments.ts';
import { languageIn, WRAPPER_FLAGS, type LanguageChoice } from './language-flags.ts';

/** What the wrapper in the folder of a server is told of its model; undefined where there is no wrapper. */
export function wrappedChoice(server: ServerDefinition): LanguageChoice | undefined {
  if (server.kind !== 'stdio' || basename(server.origin.file) !== WRAP_CONFIG_FILE) return undefined;
  const [, ...settings] = server.args;
  if (!isWrapper(server.args)) return undefined;
  try {
    if (readFolderState(dirname(server.origin.file)).kind !== 'wrapped') return undefined;
    return languageIn(parseArguments(settings, WRAPPER_FLAGS));
  } catch {
    // The wrapper itself says what is wrong, once it is started.
    return undefined;
  }
}
