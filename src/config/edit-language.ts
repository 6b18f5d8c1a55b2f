import { editJsonc, removeMember, setMember } from '../shared/jsonc-members.ts';
import type { JsoncNode } from '../shared/jsonc.ts';

/** The text of a configuration with a language model before one of its servers, or with another one. */
export function withLanguage(text: string, server: string, language: object | true): string {
  return editJsonc(text, (located) => {
    const entry = entryIn(located.root, server);
    return entry === undefined ? located.text : setMember(located, entry, 'language', language);
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
