import { isDeepStrictEqual } from 'node:util';
import { SwitchboardError } from '../shared/errors.ts';
import { editJsonc, type LocatedText } from '../shared/jsonc-members.ts';
import { nodeAt, putAt, removeAt } from '../shared/jsonc-paths.ts';
import type { RuntimeEntry } from './runtime-server.ts';

/**
 * The text of a configuration with a server in its `mcpServers`, which is created if missing. An existing entry with
 * that name is replaced. Everything else stays as it is: comments, order, indentation, line endings.
 *
 * Throws what parseJsonc throws if the text is not JSON.
 */
export function withServer(text: string, name: string, entry: object): string {
  return editJsonc(text, (located) => {
    refuseUnfit(located);
    return putAt(located, ['mcpServers', name], entry);
  });
}

/** The text without a server, and without the comments directly above it and after it on its last line. */
export function withoutServer(text: string, name: string): string {
  return editJsonc(text, (located) => {
    refuseUnfit(located);
    return removeAt(located.text, ['mcpServers', name]);
  });
}

/** A server with literal values, as a configuration writes it: `$${` means `${`. */
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
 * The text of a configuration with a server disabled. If it has no entry with that name, it gets one that says only
 * this, and takes precedence over definitions of that name in other files.
 */
export function withServerDisabled(text: string, name: string): string {
  return editJsonc(text, (located) => {
    const path = ['mcpServers', name];
    if (nodeAt(located, path)?.members === undefined)
      return withServer(located.text, name, { disabled: true });
    return putAt(located, [...path, 'disabled'], true);
  });
}

/**
 * The text with a server enabled again. An entry that says nothing else is removed, so that another file's entry counts
 * again.
 */
export function withServerEnabled(text: string, name: string): string {
  return editJsonc(text, (located) => {
    const { members = [] } = nodeAt(located, ['mcpServers', name]) ?? {};
    const saysMore = members.some(({ key }) => key !== 'disabled');
    if (members.length > 0 && !saysMore) return withoutServer(located.text, name);
    return removeAt(located.text, ['mcpServers', name, 'disabled']);
  });
}

/**
 * The text of a configuration with a language model in front of one of its servers. If existing settings of a model,
 * such as a key, would be lost, throws a SwitchboardError WRAP_REFUSED.
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

/** The text without the language model, and without the comments that belong to it. */
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
