import { viewsOf, type Bytes } from './bytes.ts';
import { idFromFragments } from './message.ts';

/**
 * Finds the ids of answers in lines that are not JSON, so that their requests fail now and not after a timeout. It
 * handles an answer that follows a truncated one on the same line, and an answer that is spread over several lines.
 */
export class DamagedAnswers {
  #open: OpenAnswer | undefined;

  /** `head` is the beginning of the line. Returns the ids as JSON text. */
  read(line: Bytes, head: string): string[] {
    return [this.#overLines(head), insideLine(line, head)].filter((id) => id !== undefined);
  }

  #overLines(line: string): string | undefined {
    if (this.#open === undefined && line.trimEnd() !== '{') return undefined;
    const open = (this.#open ??= { depth: 0, lines: 0, jsonrpc: false, id: undefined });
    const [, name, value] = (open.depth === 1 ? MEMBER.exec(line) : undefined) ?? [];
    if (name === 'id') open.id = value;
    else if (name === 'jsonrpc') open.jsonrpc = true;
    open.depth += nesting(line);
    if (open.depth > 0 && ++open.lines < MAX_LINES) return undefined;
    this.#open = undefined;
    return open.depth === 0 && open.jsonrpc ? open.id : undefined;
  }
}

/** An answer spread over several lines, while it is being read. */
interface OpenAnswer {
  /** The number of open braces and brackets. */
  depth: number;
  lines: number;
  jsonrpc: boolean;
  id: string | undefined;
}

/** The limit for an answer that starts with a brace on a separate line; anything longer is something else. */
const MAX_LINES = 10_000;
const MEMBER = /^\s*"(jsonrpc|id)"\s*:\s*("2\.0"|[1-9]\d{0,14})\s*,?\s*$/;

/** How many more braces and brackets a line opens than it closes. */
function nesting(line: string): number {
  // Matches at every quote, so that no quote is tried twice.
  const structure = line.replace(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, '');
  return (structure.match(/[{[]/g)?.length ?? 0) - (structure.match(/[}\]]/g)?.length ?? 0);
}

/** The id of an answer that starts within a line, after a truncated one. */
function insideLine(line: Bytes, head: string): string | undefined {
  if (!head.startsWith('{')) return undefined;
  const bytes = Buffer.concat(viewsOf(line, line.from, line.to));
  const at = bytes.lastIndexOf(BEGINNING);
  return at < 1 ? undefined : idFromFragments(bytes.subarray(at, at + HEAD_BYTES), NOTHING);
}

const BEGINNING = '{"jsonrpc"';
/** How many bytes are read from there. */
const HEAD_BYTES = 200;
const NOTHING = Buffer.alloc(0);
