import type { Listing, SourceInfo } from '../gateway/index.ts';
import { isJsonObject, KEPT_KINDS, KINDS, type JsonObject, type KeptKind } from '../protocol/index.ts';
import { itemsOf, readObject, type Framing } from '../wire/index.ts';
import { Collector } from './collector.ts';

/** The largest record, in bytes. */
export const MAX_RECORD_BYTES = 1024 * 1024;
const MAX_INSTRUCTIONS = 10_000;
const VERSION = 1;

/**
 * What is remembered of one server. As text it has one line of JSON for the facts, and one for each list in the form of
 * the answer to the request that lists it: `{"tools":[…]}`. So the facts can be read without parsing the lists.
 */
export interface ServerRecord {
  readonly about?: SourceInfo | undefined;
  /** The framing that the server turned out to speak; only an unusual one is kept. */
  readonly framing?: Framing | undefined;
  /** Lines as they are written; `parseList` checks them. */
  readonly lists: ReadonlyMap<KeptKind, string>;
}

/** Lists that do not fit are left out. */
export function printRecord({ about, framing, lists }: ServerRecord): string {
  const lines = [
    JSON.stringify({ version: VERSION, about: about && bounded(about), framing: unusual(framing) }),
  ];
  let bytes = Buffer.byteLength(lines[0]!);
  for (const kind of KEPT_KINDS) {
    const line = lists.get(kind);
    if (line === undefined) continue;
    const more = Buffer.byteLength(line) + 1;
    if (bytes + more > MAX_RECORD_BYTES) continue;
    lines.push(line);
    bytes += more;
  }
  return lines.join('\n');
}

/** Undefined for a text that is no record. */
export function parseRecord(text: string): ServerRecord | undefined {
  const [head, ...lines] = text.split('\n', 1 + KEPT_KINDS.length);
  if (readObject(head!) === undefined) return undefined;
  const facts = JSON.parse(head!) as JsonObject;
  if (facts.version !== VERSION) return undefined;
  const lists = new Map<KeptKind, string>();
  for (const line of lines) {
    const kind = KEPT_KINDS.find((each) => line.startsWith(opening(each)));
    if (kind !== undefined) lists.set(kind, line);
  }
  const { about, framing } = facts;
  return {
    about: isJsonObject(about) ? infoIn(about) : undefined,
    framing: unusual(framing),
    lists,
  };
}

/** A list as a line of a record; undefined for one that is not worth remembering. */
export function printList({ components, incomplete }: Listing, kind: KeptKind): string | undefined {
  if (incomplete !== undefined) return undefined;
  const line = `${opening(kind)}${components.map(({ text }) => text).join(',')}]}`;
  return /[\n\r]/.test(line) ? undefined : line;
}

/** The list in a line of a record, checked like one that a server gives; undefined where the line holds none. */
export function parseList(line: string, kind: KeptKind): Listing | undefined {
  // A carriage return between two tokens would end a line for some readers.
  if (!line.endsWith(']}') || line.includes('\r') || readObject(line) === undefined) return undefined;
  const collector = new Collector(kind);
  try {
    collector.add(itemsOf(line.slice(opening(kind).length - 1, -1)));
  } catch {
    // There is more in the object than the list.
    return undefined;
  }
  const { components, byKey } = collector;
  return { components, byKey, incomplete: undefined, remembered: true };
}

function unusual(framing: unknown): Framing | undefined {
  return framing === 'content-length' ? framing : undefined;
}

function opening(kind: KeptKind): string {
  return `{"${KINDS[kind].member}":[`;
}

/** What is worth keeping of what a server said, with a bound on each part. */
function bounded({ protocolVersion, serverInfo, capabilities, instructions }: SourceInfo): SourceInfo {
  const limits = { name: 200, title: 200, version: 200, description: 2000 };
  return {
    protocolVersion: protocolVersion.slice(0, 100),
    serverInfo: Object.fromEntries(
      Object.entries(limits).flatMap(([member, most]) => {
        const value = serverInfo[member];
        return typeof value === 'string' && value.length <= most ? [[member, value]] : [];
      }),
    ),
    // Only whether it has them counts; what they contain may be anything.
    capabilities: Object.fromEntries(
      Object.keys(capabilities)
        .filter((key) => key.length <= 100)
        .slice(0, 50)
        .map((key) => [key, {}]),
    ),
    instructions: instructions?.slice(0, MAX_INSTRUCTIONS),
  };
}

function infoIn({
  protocolVersion,
  serverInfo,
  capabilities,
  instructions,
}: JsonObject): SourceInfo | undefined {
  if (typeof protocolVersion !== 'string') return undefined;
  return bounded({
    protocolVersion,
    serverInfo: isJsonObject(serverInfo) ? serverInfo : {},
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  });
}
