import { SwitchboardError } from '../../../shared/errors.ts';
import type { YardTool } from './tool.ts';
import { YARD_TOOLS } from './tools.ts';

/**
 * Adapts a text for agents: a command in backticks such as `switchyard up main web` becomes the equivalent tool with
 * its arguments. A command without a tool stays, because only a user can run it.
 */
export function inToolWords(text: string): string {
  return text.replace(COMMAND, (span, line: string) => asToolCall(line) ?? span);
}

const COMMAND = /`switchyard ([^`]+)`/g;

/** The same for an error. */
export function errorInToolWords(error: SwitchboardError): SwitchboardError {
  const { code, message, hint, cause } = error;
  return new SwitchboardError(code, inToolWords(message), {
    hint: hint === undefined ? undefined : inToolWords(hint),
    cause,
  });
}

/** The same for all strings in some data, except those that are not ours. */
export function dataInToolWords<T>(data: T): T;
export function dataInToolWords(data: unknown): unknown {
  if (typeof data === 'string') return inToolWords(data);
  if (Array.isArray(data)) return data.map((each: unknown) => dataInToolWords(each));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, VERBATIM.has(key) ? value : dataInToolWords(value)]),
  );
}

/** Output of services, and commands from the file. */
const VERBATIM = new Set(['lines', 'line', 'recent_errors', 'command']);

function asToolCall(line: string): string | undefined {
  const [command, ...rest] = wordsIn(line) ?? [];
  const tool = YARD_TOOLS.find(({ name }) => name === `switchyard_${command}`);
  const given = tool === undefined ? undefined : argumentsIn(tool, rest);
  if (tool === undefined || given === undefined) return undefined;
  const isWhole = Object.entries(tool.arguments).every(([key, { required }]) => !required || key in given);
  // An incomplete command is only a mention of the command.
  return Object.keys(given).length === 0 || !isWhole
    ? `\`${tool.name}\``
    : `\`${tool.name} ${JSON.stringify(given)}\``;
}

/** The equivalent arguments of the tool; undefined if it has none for a flag or a word. */
function argumentsIn(
  { arguments: known, words: positional = [] }: YardTool,
  line: readonly string[],
): Record<string, unknown> | undefined {
  const given: Record<string, unknown> = {};
  const words: string[] = [];
  const rest = [...line];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('--')) {
      words.push(word);
      continue;
    }
    const key = word.slice(2).replaceAll('-', '_');
    const kind = Object.hasOwn(known, key) ? known[key]?.kind : undefined;
    if (kind === undefined || kind === 'texts') return undefined;
    const value = kind === 'flag' ? true : rest.shift();
    if (value === undefined) return undefined;
    given[key] = kind === 'number' ? Number(value) : value;
  }
  // A value given by a flag is not given again by a word.
  for (const name of positional.filter((key) => !(key in given))) {
    if (words.length === 0) break;
    given[name] = known[name]?.kind === 'texts' ? words.splice(0) : words.shift();
  }
  return words.length === 0 ? given : undefined;
}

/** Splits a command line whose names are quoted as by `shellWord`; undefined if a quote is not closed. */
function wordsIn(line: string): readonly string[] | undefined {
  const words = line.match(/(?:'[^']*'|\\'|[^\s'\\])+/g) ?? [];
  if (words.join(' ') !== line) return undefined;
  return words.map((word) =>
    word.replace(/'([^']*)'|\\(')/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ''),
  );
}
