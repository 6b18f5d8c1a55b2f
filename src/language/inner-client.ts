import { NestedClient, withPresets, type Call, type OfferedTool, type Source } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import { askClient } from './ask-client.ts';
import type { AskClient } from './model.ts';
import { parsedAnswer } from './parsed-answer.ts';

/** The client that calls a server's tools on behalf of the client of one conversation. */
export class InnerClient extends NestedClient {
  /** Sends a request to the client itself. */
  readonly askClient: AskClient;
  readonly #inner: Source;

  constructor(outer: Call, inner: Source) {
    super(outer);
    this.#inner = inner;
    this.askClient = askClient(outer.session, this.capabilities);
  }

  /** Runs a tool. Rejects with a ServerError if the server refuses, and if the request is cancelled. */
  run(tool: OfferedTool, args: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const given = JSON.stringify(args);
    const text = tool.presets === undefined ? given : withPresets(given, tool.presets);
    return this.callTool({
      params: `{"name":${JSON.stringify(tool.original)},"arguments":${text}}`,
      tool: tool.name,
      signal,
      send: (call) => {
        // Links in the response are read through the source that the gateway knows.
        call.assign(this.outer.source, () => `Tool '${tool.original}' of server '${this.#inner.name}'`);
        this.#inner.request([], call);
      },
    });
  }

  protected override parsed(answer: Message, edits: readonly Edit[]) {
    return parsedAnswer(answer, edits);
  }
}
