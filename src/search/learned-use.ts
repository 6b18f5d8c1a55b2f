import { parseJson } from '../shared/parse-json.ts';
import { isObject } from '../shared/is-object.ts';

/** So many tools are remembered, the last used ones, each with so many words. */
const MOST_TOOLS = 400;
const MOST_WORDS = 24;
const MOST_COUNT = 9;
/** From so many uses on, a tool counts as the one that is meant by these words. */
const CERTAIN = 3;
/** Only plain words are kept: what is long or has digits may be a name, a key or a number of somebody. */
const PLAIN_WORD = /^[a-z]{2,16}$/;

/** Which tools were used after which words: of each word of a query, how often. By `server.tool`, the last used one last. */
export class LearnedUse {
  readonly #tools: Map<string, Map<string, number>>;

  private constructor(tools: Map<string, Map<string, number>>) {
    this.#tools = tools;
  }

  static empty(): LearnedUse {
    return new LearnedUse(new Map());
  }

  /** Reads what `print` wrote; whatever is wrong with it counts as knowing nothing. */
  static read(text: string): LearnedUse {
    const value = parseJson(text);
    const learned = LearnedUse.empty();
    if (!isObject(value) || value.version !== 1 || !isObject(value.tools)) return learned;
    for (const [path, words] of Object.entries(value.tools).slice(-MOST_TOOLS)) {
      if (!isObject(words)) continue;
      const counts = Object.entries(words).flatMap(([word, count]): [string, number][] =>
        PLAIN_WORD.test(word) && typeof count === 'number' && count > 0
          ? [[word, Math.min(Math.floor(count), MOST_COUNT)]]
          : [],
      );
      if (counts.length > 0) learned.#tools.set(path, new Map(counts.slice(-MOST_WORDS)));
    }
    return learned;
  }

  /** As JSON, without what was never used. */
  print(): string {
    const tools = Object.fromEntries(
      [...this.#tools].map(([path, words]) => [path, Object.fromEntries(words)]),
    );
    return `${JSON.stringify({ version: 1, tools })}\n`;
  }

  get size(): number {
    return this.#tools.size;
  }

  /** A tool was used successfully after these words. */
  learn(path: string, words: readonly string[]): void {
    const plain = [...new Set(words)].filter((word) => PLAIN_WORD.test(word));
    if (plain.length === 0 || path.length > 300) return;
    const counts = this.#tools.get(path) ?? new Map<string, number>();
    for (const word of plain) {
      const count = counts.get(word) ?? 0;
      counts.delete(word);
      counts.set(word, Math.min(count + 1, MOST_COUNT));
    }
    while (counts.size > MOST_WORDS) counts.delete(counts.keys().next().value as string);
    this.#tools.delete(path);
    this.#tools.set(path, counts);
    while (this.#tools.size > MOST_TOOLS) this.#tools.delete(this.#tools.keys().next().value as string);
  }

  /** For each tool that was used after such words, how sure it is that it is meant: up to 1. */
  usedFor(words: readonly string[]): ReadonlyMap<string, number> {
    const wanted = [...new Set(words)];
    const found = new Map<string, number>();
    if (wanted.length === 0) return found;
    for (const [path, counts] of this.#tools) {
      let sum = 0;
      for (const word of wanted) {
        const count = Math.min(counts.get(word) ?? 0, CERTAIN);
        if (count > 0) sum += (count + 1) / (CERTAIN + 1);
      }
      if (sum > 0) found.set(path, sum / wanted.length);
    }
    return found;
  }
}
