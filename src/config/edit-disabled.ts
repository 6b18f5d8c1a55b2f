import { editJsonc } from '../shared/jsonc-members.ts';
import { nodeAt, putAt, removeAt } from '../shared/jsonc-paths.ts';
import { withoutServer, withServer } from './edit.ts';

/**
 * The text of a configuration with a server turned off. Where it has no entry of that name, it gets one that says only
 * this: it comes before the definitions of that name in other files.
 */
export function withServerDisabled(text: string, name: string): string {
  return editJsonc(text, (located) => {
    const path = ['mcpServers', name];
    if (nodeAt(located, path)?.members === undefined)
      return withServer(located.text, name, { disabled: true });
    return putAt(located, [...path, 'disabled'], true);
  });
}

/** The text with it turned on again. An entry that says nothing else is taken out, so that another file's counts again. */
export function withServerEnabled(text: string, name: string): string {
  return editJsonc(text, (located) => {
    const { members = [] } = nodeAt(located, ['mcpServers', name]) ?? {};
    const saysMore = members.some(({ key }) => key !== 'disabled');
    if (members.length > 0 && !saysMore) return withoutServer(located.text, name);
    return removeAt(located.text, ['mcpServers', name, 'disabled']);
  });
}
