import { editJsonc, removeMember, setMember } from '../shared/jsonc-members.ts';
import type { JsoncNode } from '../shared/jsonc.ts';
import { withoutServer, withServer } from './edit.ts';

/**
 * The text of a configuration with a server turned off. Where it has no entry of that name, it gets one that says only
 * this: it comes before the definitions of that name in other files.
 */
export function withServerDisabled(text: string, name: string): string {
  return editJsonc(text, (located) => {
    const entry = entryIn(located.root, name);
    if (entry === undefined) return withServer(located.text, name, { disabled: true });
    return setMember(located, entry, 'disabled', true);
  });
}

/** The text with it turned on again. An entry that says nothing else is taken out, so that another file's counts again. */
export function withServerEnabled(text: string, name: string): string {
  return editJsonc(text, (located) => {
    const entry = entryIn(located.root, name);
    const member = entry?.members!.findLast(({ key }) => key === 'disabled');
    if (entry === undefined || member === undefined) return located.text;
    if (entry.members!.every(({ key }) => key === 'disabled')) return withoutServer(located.text, name);
    // Plain JSON may have it twice.
    return withServerEnabled(removeMember(located, entry, member), name);
  });
}

function entryIn(root: JsoncNode, name: string): JsoncNode | undefined {
  const servers = root.members?.findLast(({ key }) => key === 'mcpServers')?.node;
  const entry = servers?.members?.findLast(({ key }) => key === name)?.node;
  return entry?.members === undefined ? undefined : entry;
}
