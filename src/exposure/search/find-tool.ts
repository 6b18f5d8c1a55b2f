import type { Call, CatalogEntry } from '../../gateway/index.ts';
import { Client } from '../../protocol/index.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { findAnswer, unknownServerAnswer } from './find-answer.ts';
import { findTools } from './find-tools.ts';
import { ServerLister } from './list-servers.ts';
import { searchedEntries } from './searched.ts';
import { toolWriting } from './tool-text.ts';
import type { SearchSettings } from './search.ts';

/** Answers `find_tool`. */
export class FindTool {
  readonly #settings: SearchSettings;
  readonly #entries: () => readonly CatalogEntry[];
  readonly #lister: ServerLister;

  constructor(settings: SearchSettings, entries: () => readonly CatalogEntry[]) {
    this.#settings = settings;
    this.#entries = entries;
    this.#lister = new ServerLister(settings.firstListMs);
  }

  run(call: Call): void {
    call.assign(undefined, () => 'find_tool');
    const args = call.request.value(Client.arguments);
    const { query, server, more } = isObject(args) ? args : {};
    if (typeof query !== 'string' || query.trim() === '') {
      call.fail(
        new SwitchboardError('ARGS_INVALID', 'find_tool needs a query: what the tool should do, in words.', {
          hint: 'For example {"query":"create issue, open ticket"}.',
        }),
      );
      return;
    }
    const wanted = typeof server === 'string' && server.trim() !== '' ? server.trim() : undefined;
    this.#find(call, query, wanted, more === true).then(
      (text) => call.succeed({ content: [{ type: 'text', text }] }),
      (error: unknown) =>
        call.fail(
          error instanceof SwitchboardError
            ? error
            : new SwitchboardError('INTERNAL', `The search failed: ${messageOf(error)}`, { cause: error }),
        ),
    );
  }

  async #find(call: Call, query: string, server: string | undefined, more: boolean): Promise<string> {
    const entries = searchedEntries(this.#entries());
    const found = await findTools(
      entries,
      { query, server, client: call.session.keeper },
      { finder: this.#settings.finder, lister: this.#lister },
    );
    if (found !== undefined) return findAnswer({ ...found, more, writing: toolWriting(entries) });
    return unknownServerAnswer(
      server ?? '',
      entries.map(({ source }) => source.name),
    );
  }
}
