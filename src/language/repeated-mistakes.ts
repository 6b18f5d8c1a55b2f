import { SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import type { FinishedToolCall } from './tool-calls.ts';

/**
 * Limits repeated mistakes in one request: a mistake is reported to the model once, and the request ends if the same
 * one occurs in a later turn. The calls of one turn were made together, so a mistake that several of them share counts
 * once.
 */
export class RepeatedMistakes {
  readonly #server: string;
  readonly #model: string;
  #toldOfTools = false;
  /** Tools that rejected their arguments at their last call. */
  readonly #rejected = new Set<string>();
  #lostBefore = false;

  constructor(server: string, model: string) {
    this.#server = server;
    this.#model = model;
  }

  /** The error that ends the request after these calls of one turn; undefined if the model may continue. */
  judge(ended: readonly FinishedToolCall[]): SwitchboardError | undefined {
    const fault = this.#unknownTool(ended) ?? this.#rejectedAgain(ended) ?? this.#lostAgain(ended);
    for (const { tool, outcome } of ended) {
      if (tool === undefined) this.#toldOfTools = true;
      // The model has understood; the next mistake is a new one.
      else if (outcome === 'ok') this.#rejected.delete(tool.name);
    }
    for (const { tool, outcome } of ended) if (tool && outcome === 'rejected') this.#rejected.add(tool.name);
    return fault;
  }

  #unknownTool(ended: readonly FinishedToolCall[]): SwitchboardError | undefined {
    const unknown = ended.find(({ tool }) => tool === undefined);
    if (unknown === undefined || !this.#toldOfTools) return undefined;
    const name = printableLine(unknown.use.name).slice(0, 100);
    return new SwitchboardError(
      'LANGUAGE_UNKNOWN_TOOL',
      `The model ${this.#model} called ${JSON.stringify(name)}, which server '${this.#server}' does not have, even after an error that said so.`,
      { hint: OTHER_WORDS },
    );
  }

  #rejectedAgain(ended: readonly FinishedToolCall[]): SwitchboardError | undefined {
    const again = ended.find(
      ({ tool, outcome }) => outcome === 'rejected' && tool !== undefined && this.#rejected.has(tool.name),
    );
    if (again?.tool === undefined) return undefined;
    return new SwitchboardError(
      'LANGUAGE_ARGUMENTS',
      `The arguments that the model ${this.#model} gave for tool '${again.tool.name}' of server '${this.#server}' were rejected, and rejected again after the model saw why.`,
      { hint: OTHER_WORDS },
    );
  }

  /**
   * The first call after a crash finds no server and restarts it. If a second one in a row fails, the server is really
   * gone.
   */
  #lostAgain(ended: readonly FinishedToolCall[]): SwitchboardError | undefined {
    const tried = ended.filter(({ outcome }) => outcome === 'ok' || outcome === 'error');
    if (tried.length === 0) return undefined;
    const lost = tried.every((end) => end.lost);
    const before = this.#lostBefore;
    this.#lostBefore = lost;
    if (!lost || !before) return undefined;
    return new SwitchboardError(
      'LANGUAGE_SERVER_GONE',
      `Server '${this.#server}' failed to run the tool calls of the model twice in a row: ${tried[0]?.message ?? 'it is no longer available'}`,
    );
  }
}

const OTHER_WORDS = 'Describe more precisely what you want, or set a more capable model as "language.model".';
