import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { Client } from '../protocol/index.ts';
import type { Call, ResultLimits, ResultReader, Session } from '../gateway/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import type { Logger } from '../shared/log.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { fitResult } from './fit-result.ts';
import { readResult } from './read-result.ts';
import type { ResultStore } from './result-store.ts';
import { partInArguments, partInUri, type WantedPart } from './selection.ts';

/** Makes results fit, and answers requests for the parts that were cut out. */
export class KeptResults {
  readonly store: ResultStore;
  readonly #log: Logger;

  constructor(store: ResultStore, log: Logger) {
    this.store = store;
    this.#log = log;
  }

  async fit(
    answer: Message,
    call: Call,
    limits: ResultLimits,
    reader: ResultReader,
  ): Promise<readonly Edit[]> {
    const owner = call.session.keeper;
    const edits = await fitResult(answer, {
      ...limits,
      reader,
      takesLinks: call.session.client.takesLinks ?? true,
      keepMs: this.store.keepMs,
      keep: (text, facts) => this.store.add(owner, text, facts, () => call.open),
    });
    if (edits.length > 0) this.#log.debug('a result was shortened', { bytes: answer.length });
    return edits;
  }

  has(session: Session, uri: string): boolean {
    const part = partInUri(uri);
    return part !== undefined && this.store.get(session.keeper, part.id) !== undefined;
  }

  readResource(call: Call, uri: string): void {
    const part = partInUri(uri);
    this.#read(call, part, 'resource').then(
      (text) => call.succeed({ contents: [{ uri, mimeType: 'text/plain', text }] }),
      (error: unknown) => call.fail(this.#failure(error)),
    );
  }

  readByAction(call: Call, tool: string, reader: ResultReader): void {
    call.assign(undefined, () => (reader === 'action' ? `Suite '${tool}'` : tool));
    this.#readArguments(call, reader).then(
      (text) => call.succeed({ content: [{ type: 'text', text }] }),
      (error: unknown) => call.fail(this.#failure(error)),
    );
  }

  async #readArguments(call: Call, reader: ResultReader): Promise<string> {
    return this.#read(call, partInArguments(call.request.value(Client.arguments)), reader);
  }

  async #read(call: Call, part: WantedPart | undefined, reader: ResultReader): Promise<string> {
    const kept = part && this.store.get(call.session.keeper, part.id);
    if (part === undefined || kept === undefined) throw notKept();
    return readResult(kept, part.selection, reader);
  }

  #failure(error: unknown): SwitchboardError {
    if (error instanceof SwitchboardError) return error;
    // It was dropped at this very moment.
    if (nodeErrorCode(error) === 'ENOENT') return notKept();
    this.#log.warn('a kept result could not be read', { reason: messageOf(error) });
    return new SwitchboardError('INTERNAL', 'Switchboard failed to read this result.', { cause: error });
  }
}

function notKept(): SwitchboardError {
  return new SwitchboardError(
    'RESULT_UNKNOWN',
    'No result with this ID is kept for you: it may have been dropped.',
    { hint: 'Call the tool again.' },
  );
}
