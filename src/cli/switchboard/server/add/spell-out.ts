import { usage, type Flag, type ParsedArguments } from '../../../kit/arguments.ts';

/**
 * The arguments of `add` if a line for another program was pasted after it, such as `claude mcp add --transport http
 * docs https://example.com/mcp`, translated to our own flags. Other arguments are returned as they are.
 */
export function spellOutPasted(argv: readonly string[], known: readonly Flag[]): readonly string[] {
  const [first = '', ...more] = argv;
  const words = more.length === 0 && HOST_LINE.test(first) ? splitLine(first) : argv;
  const end = words.indexOf('--');
  const at = words.findIndex(
    (word, index) => HOSTS.has(word) && words[index + 1] === 'mcp' && words[index + 2] === 'add',
  );
  if (at === -1 || (end !== -1 && end < at)) return argv;
  return [...words.slice(0, at), ...translated(readLine(words.slice(at + 3)), known)];
}

/** Programs whose `mcp add` accepts about the same words and flags. */
const HOSTS = new Set(['claude', 'codex', 'gemini', 'qwen']);
const HOST_LINE = /^\s*\w+\s+mcp\s+add\s/;

interface HostLine {
  /** The name, followed by the command with its arguments or by the address. */
  readonly words: readonly string[];
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** The hosts' flags by their short names. */
const SHORT: Readonly<Record<string, string>> = { s: 'scope', t: 'transport', e: 'env', H: 'header' };
const FLAGS = new Set(['scope', 'transport', 'env', 'header', 'url', 'bearer-token-env-var']);
/** Flags that accept several values, and the pattern of such a value. */
const SEVERAL: Readonly<Record<string, RegExp>> = { env: /^[A-Za-z_]\w*=/, header: /^[\w-]+:\s/ };

function readLine(line: readonly string[]): HostLine {
  const words: string[] = [];
  const values = new Map<string, string[]>();
  const rest = [...line];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    // After a command, everything is one of its arguments; after an address, flags may follow.
    const [, target] = words;
    if (word === '--' || (target !== undefined && !isAddress(target))) {
      words.push(...(word === '--' ? [] : [word]), ...rest);
      break;
    }
    if (!word.startsWith('-')) {
      words.push(word);
      continue;
    }
    const { flag, attached } = flagOf(word);
    const found = values.get(flag) ?? [];
    values.set(flag, found);
    if (attached !== undefined) found.push(attached);
    else found.push(...rest.splice(0, 1));
    while (attached === undefined && SEVERAL[flag]?.test(rest[0] ?? '') === true)
      found.push(...rest.splice(0, 1));
  }
  return { words, values };
}

function flagOf(word: string): { flag: string; attached: string | undefined } {
  const [, dashes, body, value] = /^(--?)([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  const flag = dashes === '-' ? SHORT[body ?? ''] : body;
  if (flag === undefined || !FLAGS.has(flag))
    throw usage(
      `The pasted command has an unknown flag ${JSON.stringify(word.split('=', 1)[0])}.`,
      'Remove it, or use our own flags: see add --help.',
    );
  return { flag, attached: value };
}

function translated({ words, values }: HostLine, known: readonly Flag[]): readonly string[] {
  const [name, target, ...args] = words;
  if (name === undefined) return [];
  const url = values.get('url')?.[0] ?? (target !== undefined && isAddress(target) ? target : undefined);
  const scope = values.get('scope')?.[0];
  const where = scope !== undefined && known.some((flag) => flag.name === scope) ? [`--${scope}`] : [];
  const variables = (values.get('env') ?? []).map((value) => `--env=${value}`);
  if (url === undefined)
    return [name, ...where, ...variables, '--', ...(target === undefined ? [] : [target, ...args])];
  const transport = values.get('transport')?.[0];
  const token = values.get('bearer-token-env-var')?.[0];
  const headers = [
    ...(values.get('header') ?? []),
    ...(token === undefined ? [] : [`Authorization: Bearer \${${token}}`]),
  ];
  return [
    name,
    ...where,
    `--url=${url}`,
    ...(transport === undefined ? [] : [`--transport=${transport}`]),
    ...headers.map((header) => `--header=${header}`),
    ...variables,
  ];
}

function isAddress(word: string): boolean {
  return /^https?:\/\//i.test(word);
}

/** The words of a line as a shell reads them, without expansions. */
export function splitLine(line: string): string[] {
  const words: string[] = [];
  const pattern = /((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+)/gs;
  for (const [word] of line.matchAll(pattern))
    words.push(
      word.replace(
        /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs,
        (_, single?: string, double?: string, char?: string) =>
          single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? char ?? '',
      ),
    );
  return words;
}

/**
 * The arguments of `add` with a package or an address in place of a name, or a package in place of a command, spelled
 * out: `@modelcontextprotocol/server-memory` is `memory npx -y @modelcontextprotocol/server-memory`.
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

/** `@scope/name`, with or without a version. No program or path looks like this. */
const SCOPED = /^@[a-z\d~-][\w.~-]*\/[a-z\d~-][\w.~-]*(?:@[\w.^~+-]+)?$/i;
const PLAIN = /^[a-z\d][\w.-]*(?:@[\w.^~+-]+)?$/i;

/** A word on its own is more likely a name without a command, unless it mentions MCP. */
function looksLikePackage(word: string): boolean {
  return PLAIN.test(word) && /mcp/i.test(word) && !/\.(?:[cm]?[jt]s|py|sh|json)$/i.test(word);
}

/** The reference servers written in Python. Packages with these names on npm are unrelated. */
const PYTHON = new Set(['mcp-server-fetch', 'mcp-server-git', 'mcp-server-sqlite', 'mcp-server-time']);

function launch(word: string): string[] {
  return PYTHON.has(word.replace(/@[^@]*$/, '')) ? ['uvx', word] : ['npx', '-y', word];
}

/** A package's name without `mcp` and `server`; if nothing is left, that of its scope. */
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

/** `https://mcp.example.com/mcp` becomes `example`. */
function nameOfAddress(address: string): string {
  if (!URL.canParse(address)) return 'server';
  const { hostname } = new URL(address);
  if (/^[\d.]+$|^\[|^localhost$/.test(hostname)) return 'local';
  const labels = hostname.split('.').filter((label) => !/^(?:www|mcp|api|docs?)$/i.test(label));
  return (labels.length > 1 ? labels.at(-2) : labels[0]) ?? 'server';
}
