import type { ParsedArguments } from './arguments.ts';

/**
 * The arguments of `add` with a package or an address in the place of a name, or a package in the place of a command,
 * spelled out: `@modelcontextprotocol/server-memory` is `memory npx -y @modelcontextprotocol/server-memory`.
 */
export function spellOutPackage(given: ParsedArguments): ParsedArguments {
  const [first, second, ...rest] = given.words;
  if (first === undefined || given.flags.has('url')) return given;
  if (second === undefined && /^https?:\/\//i.test(first))
    return { ...given, flags: new Map([...given.flags, ['url', first]]), words: [nameOfAddress(first)] };
  if (SCOPED.test(first) || (second === undefined && looksLikePackage(first)))
    return { ...given, words: [nameOfPackage(first), ...launch(first), ...given.words.slice(1)] };
  if (second !== undefined && SCOPED.test(second))
    return { ...given, words: [first, ...launch(second), ...rest] };
  return given;
}

/** `@scope/name`, with or without a version. No program and no path looks like this. */
const SCOPED = /^@[a-z\d~-][\w.~-]*\/[a-z\d~-][\w.~-]*(?:@[\w.^~+-]+)?$/i;
const PLAIN = /^[a-z\d][\w.-]*(?:@[\w.^~+-]+)?$/i;

/** A word alone is more likely a name whose command was forgotten, unless it says that it is about MCP. */
function looksLikePackage(word: string): boolean {
  return PLAIN.test(word) && /mcp/i.test(word) && !/\.(?:[cm]?[jt]s|py|sh|json)$/i.test(word);
}

/** The reference servers that are written in Python. Packages of these names on npm are unrelated. */
const PYTHON = new Set(['mcp-server-fetch', 'mcp-server-git', 'mcp-server-sqlite', 'mcp-server-time']);

function launch(word: string): string[] {
  return PYTHON.has(word.replace(/@[^@]*$/, '')) ? ['uvx', word] : ['npx', '-y', word];
}

/** What is left of a package's name without `mcp` and `server`; where nothing is, that of its scope. */
function nameOfPackage(word: string): string {
  const [, scope = '', name = ''] = /^(?:@([^/]+)\/)?([^@]+)/.exec(word) ?? [];
  return shortened(name) || shortened(scope) || name;
}

function shortened(name: string): string {
  return name
    .split(/[-_.]/)
    .filter((part) => !/^(?:mcp|servers?|)$/i.test(part))
    .join('-');
}

/** `https://mcp.example.com/mcp` is `example`. */
function nameOfAddress(address: string): string {
  if (!URL.canParse(address)) return 'server';
  const { hostname } = new URL(address);
  if (/^[\d.]+$|^\[|^localhost$/.test(hostname)) return 'local';
  const labels = hostname.split('.').filter((label) => !/^(?:www|mcp|api|docs?)$/i.test(label));
  return (labels.length > 1 ? labels.at(-2) : labels[0]) ?? 'server';
}
