import { SwitchboardError } from '../shared/errors.ts';
import type { JsoncNode } from '../shared/jsonc.ts';
import { editJsonc, removeMember, setMember } from '../shared/jsonc-members.ts';
import type { RuntimeEntry } from './runtime-server.ts';

/**
 * The text of a configuration with a server in its `mcpServers`, which is made where it is missing. An entry of that
 * name is replaced in place. All else stays as it is: comments, order, indentation, line endings.
 *
 * Throws what parseJsonc throws where the text is not JSON.
 */
export function withServer(text: string, name: string, entry: object): string {
  return editJsonc(text, (located) => {
    const servers = serversIn(located.root);
    // fromEntries defines members, so "__proto__" is a name like any other.
    if (servers === undefined)
      return setMember(located, located.root, 'mcpServers', Object.fromEntries([[name, entry]]));
    return setMember(located, servers, name, entry);
  });
}

/** The text without a server, and without the comments directly above it and behind it on its last line. */
export function withoutServer(text: string, name: string): string {
  return editJsonc(text, (located) => {
    const servers = serversIn(located.root);
    const member = servers?.members!.findLast(({ key }) => key === name);
    if (servers === undefined || member === undefined) return located.text;
    // Plain JSON may have it twice.
    return withoutServer(removeMember(located, servers, member), name);
  });
}

/** A server that was given literally, as a configuration writes it: `$${` stands for `${`. */
export function entryForConfig({ command, args = [], env = {}, cwd = '', timeouts }: RuntimeEntry): object {
  const variables = Object.entries(env).map(([name, value]) => [name, escaped(value)] as const);
  return {
    command: escaped(command),
    ...(args.length === 0 ? {} : { args: args.map(escaped) }),
    ...(variables.length === 0 ? {} : { env: Object.fromEntries(variables) }),
    ...(cwd.trim() === '' ? {} : { cwd: escaped(cwd) }),
    ...(timeouts === undefined ? {} : { timeouts }),
  };
}

function escaped(text: string): string {
  // A function, because `$$` means `$` in a replacement text.
  return text.replaceAll('${', () => '$${');
}

function serversIn(root: JsoncNode): JsoncNode | undefined {
  if (root.members === undefined) throw unfit('The configuration must be an object.');
  const servers = root.members.findLast(({ key }) => key === 'mcpServers');
  if (servers !== undefined && servers.node.members === undefined)
    throw unfit('mcpServers must be an object of servers by name.');
  return servers?.node;
}

function unfit(message: string): SwitchboardError {
  return new SwitchboardError('CONFIG_INVALID', message, { hint: 'Correct the configuration first.' });
}
