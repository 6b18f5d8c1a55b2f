import { createSerial } from '../shared/serial.ts';
import type { FoundNeed, ToolFinder } from './lazy-tool-search.ts';
import type { LearnedFile } from './learned-file.ts';
import { needsIn } from './needs.ts';
import { rankTools } from './rank.ts';
import { RecentSearches } from './recent-searches.ts';
import { termsWanted } from './terms.ts';
import { ToolIndex, type SearchedServer } from './tool-index.ts';
import { bareName } from './words.ts';

/** Finds tools by words. All clients of a program share one. */
export class ToolSearch implements ToolFinder {
  readonly #index = new ToolIndex();
  readonly #alone = createSerial();
  readonly #recent = new RecentSearches();
  readonly #learned: LearnedFile | undefined;

  /** With `learned`, it learns from the tools that clients call. */
  constructor(learned?: LearnedFile) {
    this.#learned = learned;
  }

  find(servers: readonly SearchedServer[], query: string, client?: object): Promise<FoundNeed[]> {
    return this.#alone(async () => {
      const used = await this.#index.use(servers);
      const isName = (text: string): boolean => used.byBareName.has(bareName(text));
      const needs = needsIn(query.slice(0, MOST_CHARS), isName).map((need) => {
        const terms = termsWanted(need, MOST_TERMS);
        const words = terms.map(({ stem }) => stem);
        const learned = this.#learned?.learned.usedFor(words);
        const ranked = rankTools({ query: need, terms }, { index: this.#index, used, learned });
        return {
          need,
          words,
          tools: ranked.map(({ tool, score }) => ({ server: tool.server, tool: tool.tool, score })),
        };
      });
      if (client !== undefined && this.#learned !== undefined)
        this.#recent.add(
          client,
          needs.map(({ words, tools }) => ({
            words,
            found: new Set(tools.slice(0, MOST_SHOWN).map(({ server, tool }) => `${server}.${tool.name}`)),
          })),
        );
      return needs;
    });
  }

  used(client: object, server: string, tool: string): void {
    const path = `${server}.${tool}`;
    for (const words of this.#recent.take(client, path)) this.#learned?.learn(path, words);
  }

  save(): void {
    this.#learned?.save();
  }
}

const MOST_CHARS = 1000;
const MOST_TERMS = 24;
/** More than a response shows. */
const MOST_SHOWN = 30;
