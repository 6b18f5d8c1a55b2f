import type { RemoteDefinition, StdioDefinition } from '../../config/index.ts';
import { KNOWN, type KnownId } from './library/known.ts';

/** What of a server's definition tells which program it is. Every definition of a server is one. */
export type Recognisable =
  | Pick<StdioDefinition, 'kind' | 'command' | 'args'>
  | Pick<RemoteDefinition, 'kind' | 'url'>
  | { readonly kind: 'builtin' };

/** What a server is for, to be put behind "Use this tool for"; undefined where we do not know it. */
export function purposeOf(server: Recognisable): string | undefined {
  const id = knownAs(server);
  return id === undefined ? undefined : KNOWN[id].purpose;
}

/**
 * Which entry of the library a server is, by what is started or reached: a package, an image, an address. Its name does
 * not count, since anything may be called "github".
 */
export function knownAs(server: Recognisable): KnownId | undefined {
  switch (server.kind) {
    case 'stdio':
      return startedBy(server.command, server.args);
    case 'remote':
      return reachedAt(server.url);
    case 'builtin':
      return undefined;
  }
}

function startedBy(command: string, args: readonly string[]): KnownId | undefined {
  const programs = byProgram();
  const direct = programs.get(fileName(command));
  if (direct !== undefined) return direct;
  let bridged = false;
  for (const word of args.flatMap(wordsOf)) {
    if (bridged && /^https?:/i.test(word)) return reachedAt(word);
    const name = packageName(word);
    if (name === undefined) continue;
    const id = programs.get(name);
    // What comes first is what runs; what follows are its arguments.
    if (id !== undefined) return id;
    bridged ||= BRIDGES.has(name);
  }
  return undefined;
}

/** Programs that stand before a server at an address. */
const BRIDGES: ReadonlySet<string> = new Set(['mcp-remote', 'mcp-proxy', 'supergateway']);

let programs: ReadonlyMap<string, KnownId> | undefined;

function byProgram(): ReadonlyMap<string, KnownId> {
  programs ??= new Map(knownIds().flatMap((id) => KNOWN[id].programs.map((name) => [name, id] as const)));
  return programs;
}

function knownIds(): KnownId[] {
  return Object.keys(KNOWN) as KnownId[];
}

/** A shell is given its whole command in one argument. */
function wordsOf(argument: string): readonly string[] {
  return /\s/.test(argument) ? argument.split(/\s+/) : [argument];
}

/** `C:\tools\mcp-server-git.exe` → `mcp-server-git` */
function fileName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return name.replace(/\.(?:exe|cmd|bat|ps1)$/i, '');
}

/** The package or image an argument names, without version, tag and extras; undefined for what cannot be one. */
function packageName(word: string): string | undefined {
  if (word.startsWith('-')) return undefined;
  const path = word.replaceAll('\\', '/');
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (installed !== undefined) return installed;
  // The "@" of a scope is none before a version.
  return /^(?:docker\.io\/)?(@?[^@:=<>~![\s]+)/.exec(path)?.[1];
}

function reachedAt(url: string): KnownId | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, pathname } = new URL(url);
  const isAt = (address: string): boolean => {
    if (address.startsWith('/')) return pathname.startsWith(address);
    return address.startsWith('.') ? hostname.endsWith(address) : hostname === address;
  };
  return knownIds().find((id) => KNOWN[id].addresses?.some(isAt));
}
