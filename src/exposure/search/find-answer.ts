import { printableLine } from '../../shared/printable.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { estimateTokens } from '../../shared/tokens.ts';
import type { FoundTool } from '../../search/index.ts';
import type { FoundTools } from './find-tools.ts';
import type { Unlisted } from './list-servers.ts';
import { toolSummary, type ToolWriting } from './tool-text.ts';

interface AnswerFacts extends FoundTools {
  /** Whether the client wants more than the best tools. */
  readonly more: boolean;
  readonly writing: ToolWriting;
}

/** The limit for every answer, in tokens by our estimate, which may be slightly too low. */
const MOST_TOKENS = 660;
/** Below this fraction of the best score, a tool's signature, or its name, is not worth its tokens. */
const WORTH_SIGNATURE = 0.72;
const WORTH_NAME = 0.45;

/** What `find_tool` returns. */
export function findAnswer({ needs, more, unlisted, servers, writing }: AnswerFacts): string {
  const notes = notesOn(unlisted);
  const room = MOST_TOKENS - estimateTokens(notes);
  const each = Math.floor(room / Math.max(1, needs.length));
  const sections = needs.map(({ need, tools }) => {
    const head = needs.length === 1 ? '' : `# ${printableLine(need).slice(0, 80)}\n`;
    const body =
      tools.length === 0 ? nothingFound(need, servers, each, writing) : toolsText(tools, more, each, writing);
    return head + body;
  });
  return [...sections, notes].filter((part) => part !== '').join('\n\n');
}

/** The best tool with its documentation, others with their signatures, and the names of some more. */
function toolsText(found: readonly FoundTool[], more: boolean, room: number, writing: ToolWriting): string {
  const [best, ...others] = spread(found);
  if (best === undefined) return '';
  let left = room;
  const lines: string[] = [];
  const add = (line: string): boolean => {
    const tokens = estimateTokens(line) + 1;
    if (tokens > left) return false;
    left -= tokens;
    lines.push(line);
    return true;
  };
  const signed = (tool: FoundTool, maxChars: number): string =>
    writing.signature(tool.server, tool.tool, maxChars);
  const summary = toolSummary(best.tool, 240);
  if (!add(signed(best, 500))) add(writing.path(best.server, best.tool.name));
  if (summary !== '') add(`  ${summary}`);
  const worth = others.filter(({ score }) => score >= best.score * WORTH_SIGNATURE);
  const withSignature = worth.slice(0, more ? 8 : 3);
  for (const tool of withSignature) if (!add(signed(tool, 160))) break;
  const rest = others
    .filter((tool) => !withSignature.includes(tool) && (more || tool.score >= best.score * WORTH_NAME))
    .slice(0, more ? 60 : 6);
  const names = namesWithin(
    rest.map(({ server, tool }) => writing.path(server, tool.name)),
    left - 4,
  );
  if (names !== '') lines.push(`Also: ${names}`);
  return lines.join('\n');
}

/**
 * Keeps the tools of one server from crowding out others: after two of a server, a close one of another server comes
 * first.
 */
function spread(found: readonly FoundTool[]): FoundTool[] {
  const rest = [...found];
  const result: FoundTool[] = [];
  const counts = new Map<string, number>();
  while (rest.length > 0 && result.length < 70) {
    const [next] = rest as [FoundTool];
    const crowded = (counts.get(next.server) ?? 0) >= 2;
    const other = crowded
      ? rest.findIndex(({ server, score }) => (counts.get(server) ?? 0) < 2 && score >= next.score * 0.85)
      : -1;
    const [taken] = rest.splice(Math.max(0, other), 1) as [FoundTool];
    result.push(taken);
    counts.set(taken.server, (counts.get(taken.server) ?? 0) + 1);
  }
  return result;
}

function namesWithin(names: readonly string[], room: number): string {
  let text = '';
  for (const name of names) {
    const next = text === '' ? name : `${text}, ${name}`;
    if (estimateTokens(next) > room) break;
    text = next;
  }
  return text;
}

/** The answer if no tool has any of the words: similar names, and the servers. */
function nothingFound(
  need: string,
  servers: AnswerFacts['servers'],
  room: number,
  writing: ToolWriting,
): string {
  const names = servers.flatMap(({ name, tools }) => tools.map((tool) => writing.path(name, tool.name)));
  const near = didYouMean(need, names);
  const counted = servers.map(({ name, tools }) => `${printableLine(name)} (${tools.length})`);
  const listed = namesWithin(counted, room - 60);
  const said = near === undefined ? '' : ` ${near}`;
  if (servers.length === 0) return `No tool was found: no server has any.${said}`;
  return `No tool matches these words.${said} Try other words. Servers and their tools: ${listed}`;
}

function notesOn(unlisted: Unlisted): string {
  const shown = unlisted
    .slice(0, 3)
    .map(
      ({ server, reason }) =>
        `Not searched: ${printableLine(server)}. ${printableLine(reason).slice(0, 160)}`,
    );
  if (unlisted.length > 3) shown.push(`Not searched: ${unlisted.length - 3} more servers.`);
  return shown.join('\n');
}

export function unknownServerAnswer(wanted: string, names: readonly string[]): string {
  const near = didYouMean(wanted, names);
  const all = namesWithin(names.map(printableLine), 400);
  return `No server is called ${JSON.stringify(wanted.slice(0, 80))}. ${near ?? ''} Servers: ${all}`;
}
