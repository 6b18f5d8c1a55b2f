import { searchedDispatcher } from '../exposure/index.ts';
import { NestedClient, type Call, type CatalogEntry } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { editedText, type Edit, type Message } from '../wire/index.ts';

export interface ScriptClientOptions {
  /** The longest response that fits into the script's memory. */
  readonly maxBytes: number;
  /** Called when a call has ended, with its outcome. */
  readonly ended: (server: string, tool: string, outcome: string) => void;
}

/** The client that calls tools on behalf of a script. Responses stay text: the script's thread parses them. */
export class ScriptClient extends NestedClient {
  readonly #options: ScriptClientOptions;

  constructor(outer: Call, options: ScriptClientOptions) {
    super(outer);
    this.#options = options;
  }

  /**
   * Calls a tool under the rules of its server; resolves with the response as JSON text. `args` is the text of a JSON
   * object.
   */
  async run(entry: CatalogEntry, tool: string, args: string, signal: AbortSignal): Promise<string> {
    const { name: server } = entry.source;
    const path = `${server}.${tool}`;
    this.tell(`Running ${path}`);
    const { response } = await this.callTool({
      params: `{"name":${JSON.stringify(tool)},"arguments":{"args":${args}}}`,
      tool: path,
      signal,
      send: (call) => {
        call.onEnd = (outcome) => this.#options.ended(server, tool, outcome);
        dispatcherOf(entry).run(call, tool);
      },
    });
    return response as string;
  }

  override answer(call: Call, result: JsonObject): void {
    this.answerText(call, JSON.stringify(result));
  }

  override answerText(call: Call, resultText: string): void {
    this.take(call)?.resolve({ response: `{"result":${resultText}}` });
  }

  protected override parsed(answer: Message, edits: readonly Edit[]) {
    if (answer.length <= this.#options.maxBytes) return { result: { response: editedText(answer, edits) } };
    const error = {
      code: -32603,
      message: `The response has ${answer.length} bytes, more than a script has memory for. Ask for less.`,
    };
    return { result: { response: JSON.stringify({ error }) } };
  }
}

/** One for each entry, because a dispatcher knows the tools of its server. */
const dispatchers = new WeakMap<CatalogEntry, ReturnType<typeof searchedDispatcher>>();

function dispatcherOf(entry: CatalogEntry): ReturnType<typeof searchedDispatcher> {
  let dispatcher = dispatchers.get(entry);
  if (dispatcher === undefined) {
    dispatcher = searchedDispatcher(entry, {
      ownMembers: OWN_MEMBERS,
      // The response goes to the script, which needs all of it, not to the model.
      reader: undefined,
      // We write the members of this call, so none can be beside the arguments.
      misplaced: (tool) => new SwitchboardError('ARGS_MISPLACED', `Tool '${tool}' was not run.`),
    });
    dispatchers.set(entry, dispatcher);
  }
  return dispatcher;
}

const OWN_MEMBERS: ReadonlySet<string> = new Set(['args']);
