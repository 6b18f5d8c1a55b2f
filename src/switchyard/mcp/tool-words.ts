import { SwitchboardError } from '../../shared/errors.ts';
import type { YardTool } from './tool.ts';
import { YARD_TOOLS } from './tools.ts';

/**
 * A text for an agent: a command such as `switchyard up main web`, which our texts put between backticks, becomes the tool
 * that does the same, with its arguments. A command that has no tool stays, because only a person can run it.
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

/** The same for all texts in some data, but for those that are not ours. */
export function dataInToolWords<T>(data: T): T;
export function dataInToolWords(data: unknown): unknown {
  if (typeof data === 'string') return inToolWords(data);
  if (Array.isArray(data)) return data.map((each: unknown) => dataInToolWords(each));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, VERBATIM.has(key) ? value : dataInToolWords(value)]),
  );
}

/** What services wrote, and what a person has written in the file. */
const VERBATIM = new Set(['lines', 'line', 'recent_errors', 'command']);

function asToolCall(line: string): string | undefined {
  const [command, ...rest] = wordsIn(line) ?? [];
  const tool = YARD_TOOLS.find(({ name }) => name === `switchyard_${command}`);
  const given = tool === undefined ? undefined : argumentsIn(tool, rest);
  if (tool === undefined || given === undefined) return undefined;
  const isWhole = Object.keys(tool.arguments).every((key) => !tool.arguments[key]!.required || key in given);
  // A command without what it needs only stands for itself.
  return Object.keys(given).length === 0 || !isWhole
    ? `\`${tool.name}\``
    : `\`${tool.name} ${JSON.stringify(given)}\``;
}

/** The arguments of the tool that mean the same; undefined where it has none for a flag or a word. */
function argumentsIn(
  { arguments: known, words: places = [] }: YardTool,
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
    const kind = Object.hasOwn(known, key) ? known[key]!.kind : undefined;
    if (kind === undefined || kind === 'texts') return undefined;
    const value = kind === 'flag' ? true : rest.shift();
    if (value === undefined) return undefined;
    given[key] = kind === 'number' ? Number(value) : value;
  }
  // What a flag has said is not said by a word.
  for (const place of places.filter((key) => !(key in given))) {
    if (words.length === 0) break;
    given[place] = known[place]!.kind === 'texts' ? words.splice(0) : words.shift();
  }
  return words.length === 0 ? given : undefined;
}

/** The words of a command line in which names are quoted as by `shellWord`; undefined where a quote is left open. */
function wordsIn(line: string): readonly string[] | undefined {
  const words = line.match(/(?:'[^']*'|\\'|[^\s'\\])+/g) ?? [];
  if (words.join(' ') !== line) return undefined;
  return words.map((word) =>
    word.replace(/'([^']*)'|\\(')/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ''),
  );
}
