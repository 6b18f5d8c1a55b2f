import { loadConfig } from '../../../config/index.ts';
import type { ServerToAdd } from '../../../console/index.ts';
import { convertServer, findHost, hostEnvironment, type HostServer } from '../../../hosts/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import { parseJsonc } from '../../../shared/jsonc.ts';
import { silentLogger } from '../../../shared/log.ts';
import { homeDirectory } from '../../../shared/paths.ts';
import { parseArguments } from '../../kit/arguments.ts';
import { addCommand } from '../server/add/add.ts';
import { newServerFrom } from '../server/add/new-server.ts';
import { splitLine, spellOutPackage, spellOutPasted } from '../server/add/spell-out.ts';
import type { CliVariant } from '../variants.ts';

interface ParseContext {
  readonly env: NodeJS.ProcessEnv;
  readonly variant: CliVariant;
}

/** The keys under which hosts keep their servers, each with the host whose syntax for references applies. */
const CONTAINERS: readonly (readonly [key: string, host: string])[] = [
  ['mcpServers', 'claude-code'],
  ['servers', 'vscode'],
  ['context_servers', 'zed'],
  ['mcp', 'opencode'],
];

/** The servers in a pasted text: JSON of any host, a command line, a package name or an address. */
export async function parseServers(text: string, context: ParseContext): Promise<readonly ServerToAdd[]> {
  const trimmed = text.trim();
  if (trimmed === '') throw unclear('The input is empty.');
  return /^[{"]/.test(trimmed) ? serversInJson(trimmed, context) : [await serverInLine(trimmed, context)];
}

function serversInJson(text: string, { env }: ParseContext): ServerToAdd[] {
  const value = readJson(text);
  const [entries, host] = entriesIn(value);
  const where = hostEnvironment({ cwd: homeDirectory(), env });
  return Object.entries(entries).map(([name, entry]) => {
    const location = { host: findHost(host), scope: 'user', file: '', project: undefined, keyPath: [] };
    const converted = convertServer(
      { location: location as unknown as HostServer['location'], name, value: entry },
      where,
    );
    if (converted.kind === 'unusable')
      throw unclear(`${JSON.stringify(name)} cannot be used: ${converted.why}.`);
    return { name, entry: { ...converted.entry } };
  });
}

/** A block that was cut out of a file begins with `"name": {…}`. */
function readJson(text: string): unknown {
  const cut = text.replace(/,\s*$/, '');
  for (const candidate of [cut, `{${cut}}`]) {
    try {
      return parseJsonc(candidate);
    } catch {
      // The next reading may work.
    }
  }
  throw unclear('The JSON is invalid.');
}

function entriesIn(value: unknown): readonly [entries: Readonly<Record<string, unknown>>, host: string] {
  if (!isObject(value)) throw unclear('The JSON is not an object.');
  for (const [key, host] of CONTAINERS) {
    const inner = value[key];
    if (isObject(inner)) return isObject(inner.servers) ? [inner.servers, 'vscode'] : [inner, host];
  }
  if (isEntry(value)) return [{ [nameOf(value)]: value }, 'claude-code'];
  const named = Object.values(value);
  if (named.length > 0 && named.every(isEntry)) return [value, 'claude-code'];
  throw unclear('No server found: no member has a "command" or a "url".');
}

function isEntry(value: unknown): boolean {
  return (
    isObject(value) && ['command', 'url', 'httpUrl', 'serverUrl', 'transport'].some((key) => key in value)
  );
}

/** A name for an entry that has none. */
function nameOf({ name, command, args, url }: Readonly<Record<string, unknown>>): string {
  if (typeof name === 'string' && name !== '') return name;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : []), url].filter(
    (word): word is string => typeof word === 'string',
  );
  return nameFor(words);
}

/** A name from the package, file or address in a command line. */
function nameFor(words: readonly string[]): string {
  for (const word of words.filter((each) => !each.startsWith('-') && !RUNNERS.has(each))) {
    const spelled = spellOutPackage({ flags: new Map(), words: [word] } as never).words[0];
    const base = (spelled ?? word)
      .replace(/[\\/]+$/, '')
      .replace(/^.*[\\/]/, '')
      .replace(/\.[a-z]{1,4}$/i, '');
    const name = base.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '');
    if (name !== '') return name;
  }
  return 'server';
}

const RUNNERS = new Set([
  'npx',
  'uvx',
  'uv',
  'node',
  'bun',
  'bunx',
  'deno',
  'python',
  'python3',
  'docker',
  'run',
  'pnpm',
  'yarn',
  'dlx',
  'cmd',
  'exec',
]);

async function serverInLine(line: string, { env, variant }: ParseContext): Promise<ServerToAdd> {
  const words = splitLine(line.replace(/\\\r?\n/g, ' ').replace(/^\$\s+/, ''));
  const pasted = spellOutPasted(words, addCommand.flags);
  const own = /^(?:npx (?:-y )?)?(?:mcp-)?switchboard add /.test(line);
  const argv = pasted !== words ? pasted : own ? words.slice(words.indexOf('add') + 1) : undefined;
  const typed = argv ?? (isAlone(words) ? words : [nameFor(words), '--', ...words]);
  const given = spellOutPackage(parseArguments(typed, addCommand.flags, addCommand.commandAt));
  const [name] = given.words;
  const prepare = newServerFrom(given, variant.program);
  if (name === undefined || prepare === undefined)
    throw unclear('This is not a command, a package name, a URL or JSON.');
  const cwd = homeDirectory();
  const empty = await loadConfig({ cwd, env, userDirectory: undefined, discover: false } as never);
  const target = { scope: 'explicit', file: undefined, directory: cwd } as const;
  const { entry } = prepare(name, empty, target, { variant, cwd, env, log: silentLogger });
  return { name, entry: { ...entry } };
}

/** Whether the text is just a package or an address. */
function isAlone(words: readonly string[]): boolean {
  return words.length === 1 || (words.length === 2 && /^@[\w.-]+\//.test(words[1] ?? ''));
}

function unclear(message: string): SwitchboardError {
  return new SwitchboardError('ARGS_INVALID', message, {
    hint: 'Paste a command such as npx -y @modelcontextprotocol/server-memory, an address, or the JSON of any host.',
  });
}
