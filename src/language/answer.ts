import { SwitchboardError } from '../shared/errors.ts';
import { untilAborted } from '../shared/until-aborted.ts';
import { filterTools, type OfferedTool } from '../gateway/index.ts';
import { canElicit, type JsonObject } from '../protocol/index.ts';
import { converse } from './converse.ts';
import { instructionsFor } from './descriptions/instructions.ts';
import type { InnerClient } from './inner-client.ts';
import { chooseModel } from './models/choose.ts';
import type { Query } from './natural-language.ts';
import type { LanguageSourceOptions, LanguageServer } from './source.ts';

/**
 * Passes a natural-language request to a server's model. Resolves with the tool result, even if it reports a failure.
 */
export async function answerQuery(
  { inner, server, rules, env, log }: LanguageSourceOptions,
  { query, context }: Query,
  client: InnerClient,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { name, language } = server;
  const { capabilities } = client;
  // Done first: without a model, nothing has to be started.
  const model = await chooseModel(language, env, canSample(capabilities) ? client.askClient : undefined);
  if (inner.state.kind !== 'running') client.tell(`Starting ${name}`);
  const { tools } = filterTools(await untilAborted(inner.list('tools'), signal), rules);
  if (tools.length === 0) throw noTools(server);
  const instructions = await instructionsFor({
    server: name,
    about: inner.about(),
    tools,
    program: server,
    settings: language,
    claude: server.claude,
  });
  return converse({
    server: name,
    model,
    instructions,
    query,
    context,
    tools,
    // A server that has stopped is not started for this; the next call does that.
    listTools: async () =>
      inner.state.kind === 'running' ? filterTools(await inner.list('tools'), rules).tools : tools,
    limits: language,
    run: (tool: OfferedTool, args, stop) => client.run(tool, args, stop),
    ask: client.askClient,
    canElicit: canElicit(capabilities, undefined),
    onQuestion: (listener) => client.onQuestion(listener),
    tell: (message) => client.tell(message),
    log,
    signal,
  });
}

/** Whether the client lets servers use its model, with tools. */
function canSample({ sampling }: JsonObject): boolean {
  return (sampling as { tools?: unknown } | null | undefined)?.tools !== undefined;
}

function noTools({ name }: LanguageServer): SwitchboardError {
  return new SwitchboardError('LANGUAGE_NO_TOOLS', `Server '${name}' exposes no tool to its model.`, {
    hint: 'Check exposedTools, hiddenTools and expose of this server in the configuration.',
  });
}
