import { basename, dirname } from 'node:path';
import type { App } from '../../../app/index.ts';
import { type ServerDefinition, composeEnv, type ConfiguredServer } from '../../../config/index.ts';
import type { Context } from '../command.ts';
import { redactCommand, type RedactedCommand } from '../../../config/index.ts';
import { probeServers, type ProbedServer, type ProbedTool, listedTools } from './probe-servers.ts';
import { unreportedStderr } from '../server-output.ts';
import { namespaceOf } from '../../../gateway/index.ts';
import { resolveModel, NATURAL_LANGUAGE, type ResolvedModel, isWrapper } from '../../../language/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { WRAP_CONFIG_FILE, readFolderState } from '../../../language/wrap/index.ts';
import { parseArguments } from '../../kit/arguments.ts';
import { languageIn, WRAPPER_FLAGS, type LanguageChoice } from '../language/language-flags.ts';

/** A server as configured, as clients see it and, once it has been started, as it really is. */
export interface InspectedServer {
  readonly server: ServerDefinition;
  readonly presentation: Presentation;
  /** The exposure in words. */
  readonly shownAs: string;
  /** How it is started or reached, without secrets. */
  readonly command: RedactedCommand;
  /** The result of starting it and listing its tools. Default: it was not started. */
  readonly probe?: ProbedServer;
}

export type StartedServer = InspectedServer & Required<Pick<InspectedServer, 'probe'>>;

/** Describes servers, in their order, without starting any. */
export function inspectServers(
  app: App,
  servers: readonly ServerDefinition[],
  { env }: Pick<Context, 'env'>,
): Promise<InspectedServer[]> {
  return Promise.all(servers.map((server) => inspectServer(app, server, env)));
}

async function inspectServer(
  app: App,
  server: ServerDefinition,
  env: Context['env'],
): Promise<InspectedServer> {
  const presentation = await serverPresentation(app, server, env);
  const shownAs = presentationText(server, presentation);
  return { server, presentation, shownAs, command: redactCommand(server) };
}

/** The same, after starting each server and listing its tools. */
export async function startServers(
  app: App,
  servers: readonly ServerDefinition[],
  context: Pick<Context, 'status' | 'log' | 'env'>,
): Promise<StartedServer[]> {
  const probed = await probeServers(app, servers, context);
  return Promise.all(
    probed.map(async (probe) => ({ ...(await inspectServer(app, probe.server, context.env)), probe })),
  );
}

/** For `--json`: a server's answer, with each of its tools described by `describe`. */
export function answerData<T>(
  { tools, behind, unmatched, incomplete }: Extract<ProbedServer, { kind: 'answered' }>,
  describe: (tool: ProbedTool) => T,
): { tools: T[]; behind?: T[]; unmatched?: typeof unmatched; incomplete?: string } {
  return {
    tools: tools.map(describe),
    ...(behind && { behind: behind.map(describe) }),
    ...(unmatched.length === 0 ? {} : { unmatched }),
    ...(incomplete === undefined ? {} : { incomplete }),
  };
}

/** What failed servers wrote to stderr, unless their errors already contain it. */
export function failedOutput(
  inspected: readonly InspectedServer[],
  { unseenOutput }: Pick<Context, 'unseenOutput'>,
): string {
  return inspected
    .map(({ server, probe }) =>
      probe?.kind === 'failed' ? unreportedStderr(unseenOutput(server.name), probe.error) : '',
    )
    .join('');
}

/** How a server is exposed to clients. */
export interface Presentation {
  readonly exposure: ServerDefinition['exposure'];
  /** The name of its suite, if it has one. */
  readonly suite?: string;
  /** The language model in front of it, if there is one. */
  readonly language?: ResolvedModel;
}

/** How a server is exposed; nothing is started to find out. */
async function serverPresentation(
  app: App,
  server: ServerDefinition,
  env: NodeJS.ProcessEnv,
): Promise<Presentation> {
  const { exposure } = server;
  const language = await languageOf(server, env);
  const suite = exposure === 'suite' ? listedTools(app, server)[0]?.name : undefined;
  return {
    exposure,
    ...(suite === undefined ? {} : { suite }),
    ...(language === undefined ? {} : { language }),
  };
}

/** A wrapper in the folder of the server is a separate program with its own environment. */
async function languageOf(
  server: ServerDefinition,
  env: NodeJS.ProcessEnv,
): Promise<ResolvedModel | undefined> {
  if (server.language !== undefined) return resolveModel(server.language, env);
  const choice = wrappedChoice(server);
  if (choice === undefined || server.kind !== 'stdio') return undefined;
  return resolveModel(choice, composeEnv(server, env));
}

/** The names that clients see for a server, as far as known without starting it, and who answers. */
export function presentationText(
  server: ConfiguredServer,
  { exposure, suite, language }: Presentation,
): string {
  if (exposure === 'hidden') return 'hidden';
  if (!server.offer.includes('tools')) return `only ${server.offer.join(' and ')}`;
  const spoken = language === undefined ? '' : `, through ${modelText(language)}`;
  if (suite !== undefined) return suite + spoken;
  if (exposure === 'search') return `search (find_tool)${spoken}`;
  if (exposure === 'code') return `code (run_code)${spoken}`;
  const tools = language === undefined ? '*' : NATURAL_LANGUAGE;
  const name = server.naming === 'plain' ? tools : `${namespaceOf(server.name)}__${tools}`;
  if (language !== undefined) return name + spoken;
  return server.naming === 'plain' ? 'flat (plain names)' : `flat (${name})`;
}

/** Which model it is, in a few words. */
function modelText(language: ResolvedModel): string {
  if ('problem' in language) return 'no model';
  return language.provider === 'host' ? "the client's model" : printableLine(language.model);
}

/** The model settings of the wrapper in the folder of a server; undefined if there is no wrapper. */
function wrappedChoice(server: ServerDefinition): LanguageChoice | undefined {
  if (server.kind !== 'stdio' || basename(server.origin.file) !== WRAP_CONFIG_FILE) return undefined;
  const [, ...settings] = server.args;
  if (!isWrapper(server.args)) return undefined;
  try {
    if (readFolderState(dirname(server.origin.file)).kind !== 'wrapped') return undefined;
    return languageIn(parseArguments(settings, WRAPPER_FLAGS));
  } catch {
    // The wrapper itself reports what is wrong when it is started.
    return undefined;
  }
}
