import { parseJson } from '../shared/parse-json.ts';
import { isObject } from '../shared/is-object.ts';

/** How many tools are remembered, the most recently used ones, and how many words for each. */
const MOST_TOOLS = 400;
const MOST_WORDS = 24;
const MOST_COUNT = 9;
/** After this many uses, these words are taken to mean the tool. */
const CERTAIN = 3;
/** Only plain words are stored: anything long or with digits may be a person's name, a key or a number. */
const PLAIN_WORD = /^[a-z]{2,16}$/;

/** How often each tool was used after each word of a query, by `server.tool`, the most recently used one last. */
export class LearnedUse {
  readonly #tools: Map<string, Map<string, number>>;

  private constructor(tools: Map<string, Map<string, number>>) {
    this.#tools = tools;
  }

  static empty(): LearnedUse {
    return new LearnedUse(new Map());
  }

  /** Reads what `print` wrote; anything unusable counts as nothing learned. */
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

  /** Prints it as JSON, without tools that were never used. */
  print(): string {
    const tools = Object.fromEntries(
      [...this.#tools].map(([path, words]) => [path, Object.fromEntries(words)]),
    );
    return `${JSON.stringify({ version: 1, tools })}\n`;
  }

  get size(): number {
    return this.#tools.size;
  }

  /** Records that a tool was used successfully after these words. */
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

  /** For each tool that was used after such words, the confidence that it is meant, up to 1. */
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
