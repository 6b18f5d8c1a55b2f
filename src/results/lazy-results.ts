import type { Call, ResultLimits, ResultReader, Results, Session } from '../gateway/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Edit, Message } from '../wire/index.ts';
import type { KeptResults } from './kept-results.ts';

export interface ResultsOptions {
  /** For results that are not kept in memory. */
  readonly directory: string;
  readonly log: Logger;
}

/** The results of all clients. The code for them is loaded when a result may be too long. */
export class LazyResults implements Results {
  readonly #options: ResultsOptions;
  #loading: Promise<KeptResults> | undefined;
  #loaded: KeptResults | undefined;
  #ended = false;

  constructor(options: ResultsOptions) {
    this.#options = options;
  }

  /** Loads that code, and removes the files of gateways that were killed. */
  load(): Promise<KeptResults> {
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<KeptResults> {
    const { openKeptResults } = await import('./open-kept-results.ts');
    const loaded = openKeptResults(this.#options.directory, this.#options.log);
    if (this.#ended) loaded.store.end();
    return (this.#loaded = loaded);
  }

  async fit(
    answer: Message,
    call: Call,
    limits: ResultLimits,
    reader: ResultReader,
  ): Promise<readonly Edit[]> {
    try {
      return await (this.#loaded ?? (await this.load())).fit(answer, call, limits, reader);
    } catch (error) {
      this.#options.log.error('a result could not be shortened and is passed on whole', {
        reason: messageOf(error),
      });
      return [];
    }
  }

  has(session: Session, uri: string): boolean {
    return this.#loaded?.has(session, uri) === true;
  }

  isOurs(uri: string): boolean {
    return uri.startsWith('switchboard-result://');
  }

  readResource(call: Call, uri: string): void {
    this.#loaded?.readResource(call, uri);
  }

  readByAction(call: Call, tool: string, reader: ResultReader): void {
    void this.load().then((loaded) => loaded.readByAction(call, tool, reader));
  }

  forget(session: Session): void {
    this.#loaded?.store.forget(session.keeper);
  }

  /** Removes everything, synchronously. */
  end(): void {
    this.#ended = true;
    this.#loaded?.store.end();
  }
}
