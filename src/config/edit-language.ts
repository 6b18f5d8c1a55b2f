import { isDeepStrictEqual } from 'node:util';
import { SwitchboardError } from '../shared/errors.ts';
import { editJsonc, removeMember, setMember } from '../shared/jsonc-members.ts';
import type { JsoncNode } from '../shared/jsonc.ts';

/**
 * The text of a configuration with a language model in front of one of its servers. What was set for a model that is
 * there already, a key perhaps, is not thrown away: where it would be, this throws a SwitchboardError WRAP_REFUSED.
 */
export function withLanguage(text: string, server: string, settings: object): string {
  const isPlain = Object.keys(settings).length === 0;
  return editJsonc(text, (located) => {
    const entry = entryIn(located.root, server);
    if (entry === undefined) return located.text;
    const present = entry.members!.findLast(({ key }) => key === 'language')?.node;
    if (present?.members === undefined)
      return setMember(located, entry, 'language', isPlain ? true : settings);
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
  return editJsonc(text, (located) => {
    const entry = entryIn(located.root, server);
    const member = entry?.members!.findLast(({ key }) => key === 'language');
    if (entry === undefined || member === undefined) return located.text;
    // Plain JSON may have it twice.
    return withoutLanguage(removeMember(located, entry, member), server);
  });
}

function entryIn(root: JsoncNode, server: string): JsoncNode | undefined {
  const servers = root.members?.findLast(({ key }) => key === 'mcpServers')?.node;
  const entry = servers?.members?.findLast(({ key }) => key === server)?.node;
  return entry?.members === undefined ? undefined : entry;
}
