import { isDeepStrictEqual } from 'node:util';
import { SwitchboardError } from '../shared/errors.ts';
import { editJsonc } from '../shared/jsonc-members.ts';
import { nodeAt, putAt, removeAt } from '../shared/jsonc-paths.ts';

/**
 * The text of a configuration with a language model in front of one of its servers. What was set for a model that is
 * there already, a key perhaps, is not thrown away: where it would be, this throws a SwitchboardError WRAP_REFUSED.
 */
export function withLanguage(text: string, server: string, settings: object): string {
  const isPlain = Object.keys(settings).length === 0;
  return editJsonc(text, (located) => {
    const path = ['mcpServers', server, 'language'];
    if (nodeAt(located, path.slice(0, -1))?.members === undefined) return located.text;
    const present = nodeAt(located, path);
    if (present?.members === undefined) return putAt(located, path, isPlain ? true : settings);
    if (isPlain || isDeepStrictEqual(present.value, settings)) return located.text;
    throw new SwitchboardError(
      'WRAP_REFUSED',
      `${JSON.stringify(server)} already has a model with other settings.`,
      {
        hint: 'Change "language" of its entry in the configuration, or unwrap it first.',
      },
    );
  });
}

/** The text without it, and without the comments that belong to it. */
export function withoutLanguage(text: string, server: string): string {
  return removeAt(text, ['mcpServers', server, 'language']);
}
