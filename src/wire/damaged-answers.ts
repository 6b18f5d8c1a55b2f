import { viewsOf, type Bytes } from './bytes.ts';
import { idFromFragments } from './message.ts';

/**
 * Finds the ids of answers in lines that are not JSON, so that their requests fail now and not after a timeout: of an
 * answer behind half of another one, and of one that is written over several lines.
 */
export class DamagedAnswers {
  #open: OpenAnswer | undefined;

  /** `head` is the beginning of the line. Returns ids as JSON text. */
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

/** An answer over several lines that is being read. */
interface OpenAnswer {
  /** Braces and brackets that are open. */
  depth: number;
  lines: number;
  jsonrpc: boolean;
  id: string | undefined;
}

/** What began with a brace on a line of its own and is longer is something else. */
const MAX_LINES = 10_000;
const MEMBER = /^\s*"(jsonrpc|id)"\s*:\s*("2\.0"|[1-9]\d{0,14})\s*,?\s*$/;

/** How many more braces and brackets a line opens than it closes. */
function nesting(line: string): number {
  // It matches wherever a quote is, so that no quote is tried twice.
  const structure = line.replace(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, '');
  return (structure.match(/[{[]/g)?.length ?? 0) - (structure.match(/[}\]]/g)?.length ?? 0);
}

/** The id of an answer that begins inside a line, behind another one that was cut off. */
function insideLine(line: Bytes, head: string): string | undefined {
  if (!head.startsWith('{')) return undefined;
  const bytes = Buffer.concat(viewsOf(line, line.from, line.to));
  const at = bytes.lastIndexOf(BEGINNING);
  return at < 1 ? undefined : idFromFragments(bytes.subarray(at, at + HEAD_BYTES), NOTHING);
}

const BEGINNING = '{"jsonrpc"';
/** How much is read from there on, in bytes. */
const HEAD_BYTES = 200;
const NOTHING = Buffer.alloc(0);
