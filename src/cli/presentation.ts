import { namespaceOf, type App } from '../app.ts';
import { composeEnv, type ConfiguredServer, type ServerDefinition } from '../config/index.ts';
import { resolveModel, NATURAL_LANGUAGE, type ResolvedModel } from '../language/index.ts';
import { printableLine } from '../shared/printable.ts';
import { listedTools } from './probe-servers.ts';
import { wrappedChoice } from './wrapped-choice.ts';

/** How a server is shown to clients. */
export interface Presentation {
  readonly exposure: ServerDefinition['exposure'];
  /** The name of its one tool, where it is shown as one. */
  readonly suite?: string;
  /** The model that takes plain words for it, where there is one. */
  readonly language?: ResolvedModel;
}

/** How a server is shown; nothing is started for that. */
export async function serverPresentation(
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

/** A wrapper in the folder of the server is a program of its own, with an environment of its own. */
async function languageOf(
  server: ServerDefinition,
  env: NodeJS.ProcessEnv,
): Promise<ResolvedModel | undefined> {
  if (server.language !== undefined) return resolveModel(server.language, env);
  const choice = wrappedChoice(server);
  if (choice === undefined || server.kind !== 'stdio') return undefined;
  return resolveModel(choice, composeEnv(server, env));
}

/** The names a client sees for a server, as far as they are known without starting it, and who answers. */
export function presentationText(
  server: ConfiguredServer,
  { exposure, suite, language }: Presentation,
): string {
  if (exposure === 'hidden') return 'hidden';
  if (!server.offer.includes('tools')) return `only ${server.offer.join(' and ')}`;
  const spoken = language === undefined ? '' : `, through ${modelText(language)}`;
  if (suite !== undefined) return suite + spoken;
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
