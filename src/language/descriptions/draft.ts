import type { OfferedTool, SourceInfo } from '../../gateway/index.ts';
import { isObject } from '../../shared/is-object.ts';
import { printable, printableLine } from '../../shared/printable.ts';

export interface DraftOptions {
  /** Its configured name. */
  readonly server: string;
  /** The server's information about itself; undefined if it has never run. */
  readonly about: SourceInfo | undefined;
  /** The tools that the model may call. */
  readonly tools: readonly OfferedTool[];
}

/**
 * Draft instructions for the model of an unknown server, made from the server's own descriptions: Markdown of at most
 * 6,000 characters. Deterministic.
 */
export function draft({ server, about, tools }: DraftOptions): string {
  const title = cut(titleOf(about) ?? server, MAX_TITLE);
  const head = [
    `# ${title}`,
    `You use the MCP server "${printableLine(server)}" on behalf of a user.`,
    HOW,
    ...ownWords(about),
  ];
  const text = head.join('\n\n');
  return `${[text, ...toolSections(tools, MAX_CHARS - text.length)].join('\n\n')}\n`;
}

const MAX_CHARS = 6000;
const MAX_TITLE = 100;
const MAX_OWN_WORDS = 2000;
const MAX_SENTENCE = 160;

const HOW = [
  '- Make as few calls as the request needs; choose them by the tool descriptions.',
  '- Look up names, ids and paths with tools that read; do not guess them. Read a thing before you change it.',
  '- Pass every required argument in the form its schema requires. Omit optional ones that the request does not mention.',
  '- If a call is refused, read why, correct it and try once more; then say what went wrong.',
  '- Answer with the result itself and the names, ids or links needed to continue from it.',
].join('\n');

/** The server's own instructions as a section; empty if it has none. */
export function ownWords(about: SourceInfo | undefined): string[] {
  const words = printable(about?.instructions ?? '').trim();
  return words === '' ? [] : [`## What the server says\n\n${cut(words, MAX_OWN_WORDS)}`];
}

function titleOf(about: SourceInfo | undefined): string | undefined {
  const { title, name } = about?.serverInfo ?? {};
  const given = [title, name].find((text): text is string => typeof text === 'string' && text.trim() !== '');
  return given === undefined ? undefined : oneLine(given);
}

/** Groups of tools by their effect, as far as the server declares it: in MCP, all of these hints are optional. */
const GROUPS: readonly { readonly heading: string; readonly has: (hints: Hints) => boolean }[] = [
  { heading: 'Tools that only read', has: ({ reads }) => reads },
  { heading: 'Tools that change something', has: ({ reads, destroys }) => !reads && destroys === false },
  {
    heading: 'Tools that may destroy something: only where the request asks for exactly that',
    has: ({ reads, destroys }) => !reads && destroys === true,
  },
  {
    heading: 'Tools that do not say whether they change something: judge by what they are for',
    has: ({ reads, destroys }) => !reads && destroys === undefined,
  },
];

interface Hints {
  readonly reads: boolean;
  /** Undefined if the server does not say. */
  readonly destroys: boolean | undefined;
}

/** The list of tools in `room` characters. If it does not fit, descriptions are left out first, then the last tools. */
function toolSections(tools: readonly OfferedTool[], room: number): string[] {
  const full = sections(tools, true);
  if (length(full) <= room) return full;
  const bare = sections(tools, false);
  if (length(bare) <= room) return bare;
  let kept = tools.length;
  const shortened = (): string[] => [
    ...sections(tools.slice(0, kept), false),
    `… and ${tools.length - kept} more tools.`,
  ];
  while (kept > 0 && length(shortened()) > room) kept -= Math.max(1, Math.floor(kept / 20));
  return shortened();
}

function length(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + part.length + 2, 1);
}

function sections(tools: readonly OfferedTool[], described: boolean): string[] {
  return GROUPS.flatMap(({ heading, has }) => {
    const lines = tools.filter((tool) => has(hintsOf(tool))).map((tool) => lineOf(tool, described));
    return lines.length === 0 ? [] : [`## ${heading}\n\n${lines.join('\n')}`];
  });
}

function hintsOf({ component }: OfferedTool): Hints {
  const { annotations } = component.value;
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  return {
    reads: readOnlyHint === true,
    destroys: typeof destructiveHint === 'boolean' ? destructiveHint : undefined,
  };
}

function lineOf({ name, component }: OfferedTool, described: boolean): string {
  const { description, inputSchema } = component.value;
  const required = isObject(inputSchema) && Array.isArray(inputSchema.required) ? inputSchema.required : [];
  const names = required
    .filter((argument) => typeof argument === 'string')
    .map((argument) => oneLine(argument));
  const needs = names.length === 0 ? '' : ` (needs ${names.join(', ')})`;
  const sentence = described && typeof description === 'string' ? firstSentence(description) : '';
  return cut(`- ${oneLine(name)}${needs}${sentence === '' ? '' : `: ${sentence}`}`, MAX_LINE);
}

const MAX_LINE = 400;

function firstSentence(description: string): string {
  const text = oneLine(description);
  // The full stop in "e.g. this" does not end a sentence: a new one begins with a capital letter.
  return cut(/^.*?[.!?](?=\s+\p{Lu}|$)/u.exec(text)?.[0] ?? text, MAX_SENTENCE);
}

function oneLine(text: string): string {
  return printableLine(text.replace(/\s+/g, ' ').trim());
}

function cut(text: string, max: number): string {
  const chars = Array.from(text);
  return chars.length <= max ? text : `${chars.slice(0, max - 1).join('')}…`;
}
