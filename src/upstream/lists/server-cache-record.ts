import { isObject } from '../../shared/is-object.ts';
import { parseJson } from '../../shared/parse-json.ts';
import type { Listing, SourceInfo } from '../../gateway/index.ts';
import {
  CATALOG_KINDS,
  eraOfVersion,
  type CatalogKind,
  type EraSupport,
  type JsonObject,
} from '../../protocol/index.ts';
import { readObject, type Framing } from '../../wire/index.ts';
import { Collector, MAX_ENTRIES } from './collector.ts';

/** The largest record, in bytes. */
export const MAX_RECORD_BYTES = 1024 * 1024;
/** The room reserved for the facts, which need less. */
const MAX_FACTS_BYTES = 100_000;
const MAX_INSTRUCTIONS = 10_000;
const VERSION = 2;

/**
 * What is remembered about one server. As text, it has a line of JSON with the facts, which include the number of lines
 * of each list, and a line for each item of the lists. The facts can therefore be read without parsing the lists.
 */
export interface ServerRecord {
  readonly about?: SourceInfo | undefined;
  /** The framing that the server uses, if it is not the usual one. */
  readonly framing?: Framing | undefined;
  /** The eras that the server supports, as far as known. */
  readonly support: EraSupport;
  readonly lists: ReadonlyMap<CatalogKind, Lines>;
}

/** The items of a list as JSON texts, one per line; `parseList` checks them. */
export type Lines = readonly string[];

/** Lists that do not fit are left out. */
export function printRecord({ about, framing, support, lists }: ServerRecord): string {
  const counts: Partial<Record<CatalogKind, number>> = {};
  const items: string[] = [];
  let bytes = MAX_FACTS_BYTES;
  for (const [kind, lines] of lists) {
    const more = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    if (bytes + more > MAX_RECORD_BYTES) continue;
    bytes += more;
    counts[kind] = lines.length;
    items.push(...lines);
  }
  const facts = {
    version: VERSION,
    about: about && bounded(about),
    framing: unusual(framing),
    support,
    lists: counts,
  };
  return [JSON.stringify(facts), ...items].join('\n');
}

/** Whether a list is short enough to be remembered. */
export function fits(lines: Lines): boolean {
  return lines.reduce((sum, line) => sum + line.length, 0) < MAX_RECORD_BYTES;
}

/** Undefined if the text is not a record. */
export function parseRecord(text: string): ServerRecord | undefined {
  const [head = '', ...lines] = text.split('\n');
  const facts = parseJson(head);
  if (!isObject(facts) || facts.version !== VERSION || !isObject(facts.lists)) return undefined;
  const lists = new Map<CatalogKind, Lines>();
  let at = 0;
  for (const [kind, count] of Object.entries(facts.lists)) {
    if (!isKind(kind) || !Number.isInteger(count)) return undefined;
    const end = at + (count as number);
    if (end < at || end > lines.length) return undefined;
    lists.set(kind, lines.slice(at, end));
    at = end;
  }
  const about = isObject(facts.about) ? infoIn(facts.about) : undefined;
  return { about, framing: unusual(facts.framing), support: supportIn(facts.support, about), lists };
}

/** A list as lines of a record; undefined if it is not worth remembering. */
export function printList({ components, incomplete }: Listing): Lines | undefined {
  const lines = components.map(({ text }) => text);
  return incomplete !== undefined || lines.some((line) => /[\n\r]/.test(line)) ? undefined : lines;
}

/** The list in the lines of a record, checked like a list from a server; undefined if one of the lines is damaged. */
export function parseList(lines: Lines, kind: CatalogKind): Listing | undefined {
  if (lines.length > MAX_ENTRIES || !lines.every(isSound)) return undefined;
  const collector = new Collector(kind);
  for (const line of lines) collector.add(line);
  const { components, byKey } = collector;
  return { components, byKey, incomplete: undefined, remembered: true };
}

/** Whether this is JSON on one line, nested no deeper than a message may be. */
function isSound(line: string): boolean {
  // Some readers treat a carriage return between tokens as the end of a line.
  if (line.includes('\r')) return false;
  return line.startsWith('{') ? readObject(line) !== undefined : parseJson(line) !== undefined;
}

function isKind(kind: string): kind is CatalogKind {
  return CATALOG_KINDS.some((each) => each === kind);
}

function unusual(framing: unknown): Framing | undefined {
  return framing === 'content-length' ? framing : undefined;
}

/** What a record says about eras. An older record says only which one the server used. */
function supportIn(support: unknown, about: SourceInfo | undefined): EraSupport {
  if (!isObject(support)) return about ? { [eraOfVersion(about.protocolVersion)]: true } : {};
  const { legacy, modern } = support;
  return {
    ...(typeof legacy === 'boolean' ? { legacy } : {}),
    ...(typeof modern === 'boolean' ? { modern } : {}),
  };
}

/** The parts of a server's information that are worth keeping, each with a limit. */
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
    // Only their presence matters; their content may be anything.
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
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  });
}
