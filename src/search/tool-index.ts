import MiniSearch from 'minisearch';
import type { FilteredTools, OfferedTool } from '../gateway/index.ts';
import { Turns } from '../shared/turns.ts';
import { actionsOf } from './actions.ts';
import { stem } from './stem.ts';
import { FIELDS, toolFields, type ToolFields } from './tool-document.ts';
import { bareName, wordsOf } from './words.ts';
import type { Term } from './terms.ts';

/** A server whose tools are searched. */
export interface SearchedServer {
  readonly name: string;
  /** Its title and description. */
  readonly about: string;
  readonly tools: FilteredTools;
}

/** One list of tools of one server, as it is in the index. Clients with equal lists share it. */
interface IndexedServer {
  readonly name: string;
  readonly about: string;
  readonly tools: readonly OfferedTool[];
  readonly documents: readonly IndexedTool[];
  readonly owner: Owner;
}

interface Owner {
  /** The last search that included it. */
  usedAt: number;
  /** How many tools the server has. */
  readonly tools: number;
}

/** A tool in the index. */
export interface IndexedTool {
  readonly id: number;
  readonly server: string;
  readonly tool: OfferedTool;
  /** Its name without separators. */
  readonly bare: string;
  /** The same with the server's name in front. */
  readonly bareWithServer: string;
  /** The stems of its name, without those that nearly all tools of its server share. */
  readonly nameStems: readonly string[];
  readonly actions: ReturnType<typeof actionsOf>;
  /** Whether it says that another tool should be used instead. */
  readonly deprecated: boolean;
  readonly owner: Owner;
}

/** A tool that matches part of a search. */
export interface Candidate {
  readonly tool: IndexedTool;
  /** The score of the words alone. */
  readonly score: number;
  /** For each word that was found, the fields it is in. */
  readonly match: Readonly<Record<string, readonly string[]>>;
}

const BOOST: Readonly<Record<(typeof FIELDS)[number], number>> = {
  name: 4,
  server: 1.2,
  summary: 2,
  detail: 0.65,
};

/** How many tools one search examines, once for each of their words; all tools for the most distinctive word. */
const MOST_FOUND = 1200;

/** How many tools are kept that no recent search has used. */
const MOST_UNUSED = 2000;

/** The tools of all servers of all clients. A tool is indexed when it is searched for the first time. */
export class ToolIndex {
  readonly #index = new MiniSearch<ToolFields & { readonly id: number }>({
    fields: [...FIELDS],
    tokenize: (text) => (text === '' ? [] : text.split(' ')),
    processTerm: (term) => term,
  });
  readonly #documents = new Map<number, IndexedTool>();
  /** How many tools contain each word. */
  readonly #counts = new Map<string, number>();
  /** The lists that are in the index, by server. */
  readonly #servers = new Map<string, IndexedServer[]>();
  #known = new WeakMap<FilteredTools, IndexedServer>();
  #searches = 0;
  #last: { readonly servers: readonly SearchedServer[]; readonly used: UsedServers } | undefined;
  #nextId = 0;

  /** How many tools are in the index. */
  get size(): number {
    return this.#documents.size;
  }

  /** Sets the servers to search. */
  async use(servers: readonly SearchedServer[]): Promise<UsedServers> {
    const last = this.#last;
    if (last !== undefined && areSame(last.servers, servers)) return last.used;
    const turns = new Turns();
    const used: IndexedServer[] = [];
    for (const server of servers) used.push(this.#find(server) ?? (await this.#add(server, turns)));
    const searchId = ++this.#searches;
    for (const server of used) server.owner.usedAt = searchId;
    await this.#dropUnused(searchId, turns);
    const tools = used.flatMap(({ documents }) => documents);
    this.#last = {
      servers,
      used: {
        servers: [...new Set(servers.map(({ name }) => name))],
        tools,
        byBareName: grouped(tools),
        isUsed: (tool) => tool.owner.usedAt === searchId,
      },
    };
    return this.#last.used;
  }

  /** Whether any tool has this word. */
  has(word: string): boolean {
    return this.#counts.has(word);
  }

  /** How rare a word is: about 0 if every tool has it. */
  rarity(word: string): number {
    const all = this.#documents.size;
    const count = this.#counts.get(word) ?? 0;
    return Math.log(1 + (all - count + 0.5) / (count + 0.5));
  }

  /** The tools that have any of the words, best first. */
  search(
    words: ReadonlyMap<string, number>,
    used: UsedServers,
    {
      most,
      boostServer,
    }: { readonly most: number; readonly boostServer: ((server: string) => number) | undefined },
  ): Candidate[] {
    if (words.size === 0) return [];
    const results = this.#index.search(this.#tellingWords(words).join(' '), {
      boost: { ...BOOST },
      ...(boostServer && {
        boostDocument: (id) => boostServer(this.#documents.get(id as number)?.server ?? ''),
      }),
      boostTerm: (word) => words.get(word) ?? 1,
      bm25: { k: 1.2, b: 0.6, d: 0.3 },
      filter: ({ id }) => {
        const tool = this.#documents.get(id as number);
        return tool !== undefined && used.isUsed(tool);
      },
    });
    return results.slice(0, most).map(({ id, score, match }) => ({
      tool: this.#documents.get(id as number) as IndexedTool,
      score,
      match,
    }));
  }

  /** The most distinctive words, as many as can be looked up quickly: nearly every tool gets or lists something. */
  #tellingWords(words: ReadonlyMap<string, number>): string[] {
    const known = [...words]
      .filter(([word]) => this.has(word))
      .map(([word, weight]) => ({
        word,
        tells: weight * this.rarity(word),
        count: this.#counts.get(word) ?? 0,
      }))
      .sort((a, b) => b.tells - a.tells);
    let left = MOST_FOUND;
    return known
      .filter(({ count }, at) => {
        left -= count;
        return left >= 0 || at === 0;
      })
      .map(({ word }) => word);
  }

  /** Words of the index that a word may be a typo or the beginning of. */
  nearWords(word: string): string[] {
    if (word.length < 6) return [];
    const near: string[] = [];
    for (const known of this.#counts.keys()) {
      if (known.startsWith('~')) continue;
      const isPrefix = known.length > word.length && known.startsWith(word);
      if (isPrefix || isOneTypo(word, known)) near.push(known);
      if (near.length >= 8) break;
    }
    return near;
  }

  #find({ name, about, tools }: SearchedServer): IndexedServer | undefined {
    const known = this.#known.get(tools);
    if (known !== undefined && known.name === name && known.about === about) return known;
    const equal = this.#servers
      .get(name)
      ?.find((each) => each.about === about && haveEqualTools(each.tools, tools.tools));
    if (equal !== undefined) this.#known.set(tools, equal);
    return equal;
  }

  async #add({ name, about, tools }: SearchedServer, turns: Turns): Promise<IndexedServer> {
    const owner = { usedAt: 0, tools: tools.tools.length };
    const documents: IndexedTool[] = [];
    const common = commonStems(tools.tools);
    const server: IndexedServer = { name, about, tools: tools.tools, documents, owner };
    for (const tool of tools.tools) {
      const id = this.#nextId++;
      const stems = nameStems(tool);
      const own = stems.filter((each) => !common.has(each));
      const description = descriptionOf(tool);
      const document: IndexedTool = {
        id,
        server: name,
        tool,
        bare: bareName(tool.name),
        bareWithServer: bareName(name + tool.name),
        nameStems: own.length === 0 ? stems : own,
        actions: actionsOf(own.join(' '), description),
        deprecated: /\bdeprecated\b/i.test(description.slice(0, 300)),
        owner,
      };
      const fields = toolFields(tool, `${name} ${about}`);
      this.#count(fields, 1);
      this.#index.add({ id, ...fields });
      this.#documents.set(id, document);
      documents.push(document);
      const turn = turns.next();
      if (turn !== undefined) await turn;
    }
    this.#servers.set(name, [...(this.#servers.get(name) ?? []), server]);
    this.#known.set(tools, server);
    return server;
  }

  #count(fields: ToolFields, by: number): void {
    for (const word of new Set(FIELDS.flatMap((field) => fields[field].split(' ')))) {
      if (word === '') continue;
      const count = (this.#counts.get(word) ?? 0) + by;
      if (count > 0) this.#counts.set(word, count);
      else this.#counts.delete(word);
    }
  }

  /** Removes lists that clients probably no longer have: the least recently used ones. */
  async #dropUnused(searchId: number, turns: Turns): Promise<void> {
    const unused = [...this.#servers.values()].flat().filter(({ owner }) => owner.usedAt !== searchId);
    let count = unused.reduce((sum, { documents }) => sum + documents.length, 0);
    unused.sort((a, b) => a.owner.usedAt - b.owner.usedAt);
    for (const server of unused) {
      if (count <= MOST_UNUSED) break;
      count -= server.documents.length;
      for (const { id, tool } of server.documents) {
        const fields = toolFields(tool, `${server.name} ${server.about}`);
        this.#count(fields, -1);
        // `discard` would clean up later, which fails if the index has changed by then.
        this.#index.remove({ id, ...fields });
        this.#documents.delete(id);
        const turn = turns.next();
        if (turn !== undefined) await turn;
      }
      const others = (this.#servers.get(server.name) ?? []).filter((each) => each !== server);
      if (others.length === 0) this.#servers.delete(server.name);
      else this.#servers.set(server.name, others);
      this.#known = new WeakMap();
    }
  }
}

/** The servers of one search, which must run next. */
export interface UsedServers {
  readonly servers: readonly string[];
  readonly tools: readonly IndexedTool[];
  /** By name, with and without the server, both without separators. */
  readonly byBareName: ReadonlyMap<string, readonly IndexedTool[]>;
  isUsed(tool: IndexedTool): boolean;
}

/** Whether two words differ in one letter that is missing, added, wrong, or swapped with the next. */
export function isOneTypo(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || Math.min(a.length, b.length) < 4) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const rest = (skipA: number, skipB: number): boolean => a.slice(start + skipA) === b.slice(start + skipB);
  return (
    rest(1, 1) ||
    rest(1, 0) ||
    rest(0, 1) ||
    (a[start] === b[start + 1] && a[start + 1] === b[start] && rest(2, 2))
  );
}

/** If all names of a server begin with its own name, that word tells nothing. */
function commonStems(tools: readonly OfferedTool[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const tool of tools)
    for (const each of new Set(nameStems(tool))) counts.set(each, (counts.get(each) ?? 0) + 1);
  return new Set(
    [...counts].filter(([, count]) => count > 2 && count > tools.length * 0.6).map(([each]) => each),
  );
}

function descriptionOf({ component }: OfferedTool): string {
  const { description } = component.value;
  return typeof description === 'string' ? description : '';
}

function nameStems({ name }: OfferedTool): string[] {
  return [...new Set(wordsOf(name.slice(0, 200)).map(stem))].slice(0, 12);
}

function grouped(tools: readonly IndexedTool[]): Map<string, IndexedTool[]> {
  const groups = new Map<string, IndexedTool[]>();
  for (const tool of tools)
    for (const name of [tool.bare, tool.bareWithServer]) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [tool]);
      else group.push(tool);
    }
  return groups;
}

function areSame(a: readonly SearchedServer[], b: readonly SearchedServer[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ name, about, tools }, at) => {
      const other = b[at];
      return other !== undefined && tools === other.tools && name === other.name && about === other.about;
    })
  );
}

function haveEqualTools(a: readonly OfferedTool[], b: readonly OfferedTool[]): boolean {
  return a.length === b.length && a.every(({ component }, at) => component.text === b[at]?.component.text);
}

/** The words of terms, with weights: a meaning weighs less than the word itself. */
export function weighed(terms: readonly Term[], meaningWeight: number): Map<string, number> {
  const words = new Map<string, number>();
  const add = (word: string, weight: number): void => {
    words.set(word, Math.max(words.get(word) ?? 0, weight));
  };
  for (const { stem: word, meanings } of terms) {
    if (!word.includes('+')) add(word, 1);
    for (const meaning of meanings) add(meaning, meaningWeight);
  }
  return words;
}
