import { isDeepStrictEqual } from 'node:util';
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
