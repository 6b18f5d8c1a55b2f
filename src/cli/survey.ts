import { introspection, type App } from '../app.ts';
import type { LoadedConfig, ServerDefinition } from '../config/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import type { Context } from './command.ts';
import { usage } from './arguments.ts';

type Listing = Awaited<ReturnType<App['listTools']>>;
export type Tool = Listing['components'][number];
type About = NonNullable<ReturnType<ReturnType<App['source']>['about']>>;

/** A server that was started and asked what it offers, or that could not be. */
export type Surveyed = SurveyedServer & (Answered | Failed);

interface SurveyedServer {
  readonly server: ServerDefinition;
  /** The one tool a host sees for it. */
  readonly suite: SuiteTool;
  /** True for a subtool that a host may see and call. */
  readonly admits: (tool: string) => boolean;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

interface Answered {
  readonly kind: 'answered';
  readonly tools: readonly Tool[];
  /** Why the list is not everything, where it is not. */
  readonly incomplete: string | undefined;
  readonly about: About | undefined;
}

interface Failed {
  readonly kind: 'failed';
  readonly error: SwitchboardError;
}

export type SuiteTool = App['gateway']['tools'][number]['definition'];

/** Servers started at one time: each may be a package manager that downloads something. */
const AT_ONCE = 8;

/** Starts the servers and asks each for its tools, several at a time; the result is in the order of the configuration. */
export async function survey(
  config: LoadedConfig,
  wanted: readonly ServerDefinition[],
  context: Context,
): Promise<Surveyed[]> {
  const app = context.open(config);
  const found: Surveyed[] = [];
  const busy = new Set<string>();
  const waiting = wanted.entries();
  let done = 0;
  const show = (): void =>
    context.status.show(`${done} of ${wanted.length} done, waiting for ${[...busy].join(', ')}`);
  const work = async (): Promise<void> => {
    for (const [at, server] of waiting) {
      busy.add(server.name);
      show();
      const surveyed = await ask(app, server);
      found[at] = surveyed;
      busy.delete(server.name);
      done += 1;
      context.status.clear();
      report(surveyed, context);
      if (busy.size > 0) show();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** The servers named, or all where none is; throws for a name that is not configured. */
export function selected(config: LoadedConfig, names: readonly string[]): readonly ServerDefinition[] {
  for (const name of names) {
    if (config.servers.some((server) => server.name === name)) continue;
    if (config.disabled.includes(name)) {
      throw usage(
        `The server ${JSON.stringify(name)} is turned off.`,
        'Remove "disabled" from its definition to use it.',
      );
    }
    const known = config.servers.map((server) => server.name);
    const hint =
      didYouMean(name, known) ??
      (known.length === 0 ? 'No server is configured.' : `There are: ${known.join(', ')}.`);
    throw new SwitchboardError('SERVER_UNKNOWN', `No server named ${JSON.stringify(name)}.`, { hint });
  }
  return names.length === 0 ? config.servers : config.servers.filter((server) => names.includes(server.name));
}

/** The tool a host sees for a server, and what it lets through; nothing is started for that. */
export function suiteOf(
  app: App,
  server: ServerDefinition,
): { suite: SuiteTool; admits: (tool: string) => boolean } {
  const tool = app.gateway.tools.find((each) => each.source === server.name)!;
  const entry = app.gateway.catalog.entries.find((each) => each.source.name === server.name)!;
  return { suite: tool.definition, admits: entry.admits };
}

export interface Described {
  readonly name: string;
  readonly summary: string;
  /** The input, condensed to one line. */
  readonly input: string;
}

/** The tools as a model reads them when it opens the suite. */
export function described(tools: readonly Tool[], summaryMaxChars: number): readonly Described[] {
  const { structuredContent } = introspection(tools, 'summary', summaryMaxChars, undefined);
  return (structuredContent as { tools: Described[] }).tools;
}

async function ask(app: App, server: ServerDefinition): Promise<Surveyed> {
  const since = performance.now();
  const common = { server, ...suiteOf(app, server) };
  const ms = (): number => Math.round(performance.now() - since);
  try {
    const { components, incomplete } = await app.listTools(server.name);
    const about = app.source(server.name).about();
    return { kind: 'answered', ...common, ms: ms(), tools: components, incomplete, about };
  } catch (cause) {
    const error =
      cause instanceof SwitchboardError ? cause : new SwitchboardError('BUG', messageOf(cause), { cause });
    return { kind: 'failed', ...common, ms: ms(), error };
  }
}

function report(surveyed: Surveyed, { log }: Context): void {
  const { server, ms } = surveyed;
  if (surveyed.kind === 'answered')
    log.info('listed', { server: server.name, tools: surveyed.tools.length, ms });
  else log.info('failed', { server: server.name, ms });
}
