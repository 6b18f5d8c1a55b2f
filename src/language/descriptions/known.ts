import type { RemoteDefinition, StdioDefinition } from '../../config/index.ts';
import { brands } from './library/brands.ts';
import { KNOWN, type Known, type KnownId } from './library/known.ts';

/** The parts of a server's definition that identify its program. Every definition contains them. */
export type Recognisable =
  | Pick<StdioDefinition, 'kind' | 'command' | 'args'>
  | Pick<RemoteDefinition, 'kind' | 'url'>
  | { readonly kind: 'builtin' };

/** The purpose of a server, to follow "Use this tool for"; undefined if it is unknown. */
export function purposeOf(server: Recognisable): string | undefined {
  const id = recognised(server);
  return id === undefined ? undefined : library().get(id)?.purpose;
}

/** The id of a server for which the library has instructions. */
export function knownAs(server: Recognisable): KnownId | undefined {
  const id = recognised(server);
  return id !== undefined && Object.hasOwn(KNOWN, id) ? (id as KnownId) : undefined;
}

/**
 * The library entry of a server, determined by what is started or reached: a package, an image, a program, an address.
 * Its name does not count, since anything may be called "github".
 */
export function recognised(server: Recognisable): string | undefined {
  switch (server.kind) {
    case 'stdio':
      return startedBy(server.command, server.args);
    case 'remote':
      return reachedAt(server.url);
    case 'builtin':
      return undefined;
  }
}

function startedBy(command: string, args: readonly string[]): string | undefined {
  const program = fileName(command);
  const direct = programNamed(program);
  if (direct !== undefined) return direct;
  const words = args.flatMap(wordsOf);
  if (INTERPRETERS.has(program)) {
    const script = words.find((word) => !word.startsWith('-'));
    const run = script === undefined ? undefined : programNamed(fileName(script));
    if (run !== undefined) return run;
  }
  let bridged = false;
  for (const word of words) {
    if (bridged && /^https?:/i.test(word)) return reachedAt(word);
    const name = packageName(word);
    if (name === undefined) continue;
    const id = programNamed(name);
    // The first word is what runs; the following ones are its arguments.
    if (id !== undefined) return id;
    bridged ||= BRIDGES.has(name);
  }
  return undefined;
}

/** Programs that connect to a remote server. */
const BRIDGES: ReadonlySet<string> = new Set(['mcp-remote', 'mcp-proxy', 'supergateway']);

/** Programs that run the file passed to them. */
const INTERPRETERS: ReadonlySet<string> = new Set(['node', 'bun', 'deno', 'tsx', 'python', 'python3']);

let all: ReadonlyMap<string, Known> | undefined;

function library(): ReadonlyMap<string, Known> {
  all ??= new Map<string, Known>([...Object.entries(KNOWN), ...Object.entries(brands())]);
  return all;
}

let allPrograms: ReadonlyMap<string, string> | undefined;

/** The library entry of each program, package or image. */
function programsInLibrary(): ReadonlyMap<string, string> {
  const programs = new Map<string, string>();
  for (const [id, known] of library()) for (const each of known.programs) programs.set(each, id);
  return programs;
}

/** The server with a program, package or image of this name, in any npm scope. */
function programNamed(name: string): string | undefined {
  const programs = (allPrograms ??= programsInLibrary());
  const found = programs.get(name) ?? productIn(name);
  if (found !== undefined || !name.startsWith('@')) return found;
  const unscoped = name.replace(/^@[^/]+\//, '');
  return programs.get(unscoped) ?? productIn(unscoped);
}

/** The product in a conventional package name, from any publisher. */
function productIn(name: string): string | undefined {
  if (!name.includes('mcp')) return undefined;
  return USUAL_NAMES.map((pattern) => pattern.exec(name)?.[1]).find(
    // Common words are not products: such a package may do anything.
    (id) => id !== undefined && library().has(id) && !COMMON_WORDS.has(id),
  );
}

const USUAL_NAMES = [/^mcp\/(.+)$/, /^mcp-server-(.+)$/, /^(.+)-mcp-server$/, /^mcp-(.+)$/, /^(.+)-mcp$/];

const COMMON_WORDS: ReadonlySet<string> = new Set([
  ...['filesystem', 'memory', 'fetch', 'git', 'time', 'docker', 'everything', 'magic', 'pdf', 'box'],
  ...['browser-mcp', 'mobile-mcp', 'square', 'render', 'monday', 'unity'],
]);

/** A shell gets its whole command in one argument. */
function wordsOf(argument: string): readonly string[] {
  return /\s/.test(argument) ? argument.split(/\s+/) : [argument];
}

/** `C:\tools\mcp-server-git.exe` → `mcp-server-git` */
function fileName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return name.replace(/\.(?:exe|cmd|bat|ps1)$/i, '');
}

/** The package or image that an argument names, without version, tag and extras; undefined if it cannot be one. */
function packageName(word: string): string | undefined {
  const named = word.startsWith('-') ? /^--(?:package|from)=(.+)$/.exec(word)?.[1] : word;
  if (named === undefined || named.startsWith('-')) return undefined;
  const path = named.replaceAll('\\', '/');
  const installed = path.includes('/node_modules/')
    ? /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
    : undefined;
  if (installed !== undefined) return installed;
  // The "@" of a scope does not precede a version.
  return /^(?:docker\.io\/)?(@?[^@:=<>~![\s]+)/.exec(path)?.[1];
}

function reachedAt(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, pathname } = new URL(url);
  const isAt = (address: string): boolean => {
    if (address.startsWith('/')) return pathname.startsWith(address);
    return address.startsWith('.') ? hostname.endsWith(address) : hostname === address;
  };
  return [...library()].find(([, known]) => known.addresses?.some(isAt))?.[0];
}
