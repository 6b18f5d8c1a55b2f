import { SwitchboardError } from '../shared/errors.ts';
import { editJsonc, type LocatedText } from '../shared/jsonc-members.ts';
import { nodeAt, putAt, removeAt } from '../shared/jsonc-paths.ts';
import type { RuntimeEntry } from './runtime-server.ts';

/**
 * The text of a configuration with a server in its `mcpServers`, which is made where it is missing. An entry of that
 * name is replaced in place. All else stays as it is: comments, order, indentation, line endings.
 *
 * Throws what parseJsonc throws where the text is not JSON.
 */
export function withServer(text: string, name: string, entry: object): string {
  return editJsonc(text, (located) => {
    refuseUnfit(located);
    return putAt(located, ['mcpServers', name], entry);
  });
}

/** The text without a server, and without the comments directly above it and behind it on its last line. */
export function withoutServer(text: string, name: string): string {
  return editJsonc(text, (located) => {
    refuseUnfit(located);
    return removeAt(located.text, ['mcpServers', name]);
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

function refuseUnfit(located: LocatedText): void {
  if (located.root.members === undefined) throw unfit('The configuration must be an object.');
  const servers = nodeAt(located, ['mcpServers']);
  if (servers !== undefined && servers.members === undefined)
    throw unfit('mcpServers must be an object of servers by name.');
}

function unfit(message: string): SwitchboardError {
  return new SwitchboardError('CONFIG_INVALID', message, { hint: 'Correct the configuration first.' });
}
