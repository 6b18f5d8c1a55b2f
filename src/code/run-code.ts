import { knownTools, ServerLister } from '../exposure/index.ts';
import {
  RunningCalls,
  type Call,
  type CatalogEntry,
  type OverallExposure,
  type ParsedRequest,
} from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { ToolFinder } from '../search/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { serverIdentifiers } from '../shared/identifiers.ts';
import { isObject } from '../shared/is-object.ts';
import type { Logger } from '../shared/log.ts';
import { TimeLimit } from '../shared/time-limit.ts';
import { untilAborted } from '../shared/until-aborted.ts';
import type { ScriptLimits, ScriptServer } from './messages.ts';
import type { ScriptOptions } from './run-script.ts';
import { ScriptClient } from './script-client.ts';
import type { Scripts } from './scripts.ts';

export interface RunCodeSettings {
  readonly scripts: Scripts;
  /** Learns which tools are used. */
  readonly finder: Pick<ToolFinder, 'used'>;
  readonly limits: () => ScriptLimits;
  /** How long a script waits for servers whose tools have never been listed, in milliseconds. */
  readonly firstListMs: () => number;
  readonly log: Logger;
}

/** The tool `run_code`: runs a script that calls tools of any server exposed as code. */
export function runCode(settings: RunCodeSettings): OverallExposure {
  let entries: readonly CatalogEntry[] = [];
  const runner = new CodeRunner(settings, () => entries);
  const presented = [
    {
      names: ['run_code'],
      definition: runCodeDefinition,
      run: (call: Call) => runner.run(call),
    },
  ];
  return {
    present(_find, now) {
      entries = now;
      return presented;
    },
  };
}

/** The servers whose tools scripts can call. */
export function scriptedEntries(entries: readonly CatalogEntry[]): CatalogEntry[] {
  return entries.filter(({ exposure, offers }) => exposure.isScripted === true && offers.has('tools'));
}

/** The definition is the same for any number of servers, and short, because every conversation pays for it. */
export function runCodeDefinition(name: string): string {
  return JSON.stringify({
    name,
    description:
      'Runs TypeScript that calls tools from find_tool: `const r = await server.tool({…})`. Loop, filter, use ' +
      'Promise.all, and return only what you need.',
    inputSchema: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
  });
}

/** What can end a script. */
type ScriptBounds = Pick<ScriptOptions, 'limits' | 'time' | 'signal'>;

/** Answers `run_code`. */
class CodeRunner {
  readonly #settings: RunCodeSettings;
  readonly #entries: () => readonly CatalogEntry[];
  readonly #lister: ServerLister;
  readonly #running = new RunningCalls();

  constructor(settings: RunCodeSettings, entries: () => readonly CatalogEntry[]) {
    this.#settings = settings;
    this.#entries = entries;
    this.#lister = new ServerLister(settings.firstListMs);
  }

  run(call: Call): void {
    call.assign(undefined, () => 'run_code');
    const limits = this.#settings.limits();
    // The interpreter holds several copies of a response while it reads it.
    const client = new ScriptClient(call, {
      maxBytes: (limits.memoryMb * 1024 * 1024) / 2,
      ended: (server, tool, outcome) => {
        this.#settings.log.debug('script call', { server, tool, outcome });
        // Successful calls make their tools easier to find next time.
        if (outcome === 'ok') this.#settings.finder.used(call.session.keeper, server, tool);
      },
    });
    const time = new TimeLimit(limits.timeoutMs);
    client.onQuestion((answered) => void time.hold(() => answered));
    let back = (): void => undefined;
    this.#running.run(
      call,
      [],
      async (request, signal) => {
        try {
          return await this.#run(codeIn(request), client, { limits, time, signal });
        } finally {
          time.close();
        }
      },
      (away) => {
        client.waits(away);
        back();
        if (away) void time.hold(() => new Promise<void>((resolve) => (back = resolve)));
      },
    );
  }

  async #run(code: string, client: ScriptClient, bounds: ScriptBounds): Promise<JsonObject> {
    const started = performance.now();
    const servers = await untilAborted(this.#servers(code), bounds.signal);
    const entries = new Map(scriptedEntries(this.#entries()).map((entry) => [entry.source.name, entry]));
    const { scripts, log } = this.#settings;
    const outcome = await scripts.run(client.principal, {
      ...bounds,
      code,
      servers,
      call: async ({ server, tool, args }, over) => {
        const entry = entries.get(server);
        if (entry === undefined)
          throw new SwitchboardError('SERVER_UNKNOWN', `There is no server '${server.slice(0, 200)}'.`);
        return client.run(entry, tool, args, over);
      },
    });
    log.debug('script', {
      ms: Math.round(performance.now() - started),
      cpuMs: outcome.cpuMs,
      calls: outcome.calls,
      outcome: outcome.ok ? 'ok' : 'error',
    });
    const content = [{ type: 'text', text: outcome.text }];
    return outcome.ok ? { content } : { content, isError: true };
  }

  /** The servers a script can call. Lists the tools of a server that has never been listed if the script names it. */
  async #servers(code: string): Promise<ScriptServer[]> {
    const entries = scriptedEntries(this.#entries());
    const globals = serverIdentifiers(entries.map(({ source }) => source.name));
    const named = entries.filter(({ source: { name } }) => {
      const global = globals.get(name);
      return code.includes(name) || (global !== undefined && code.includes(global));
    });
    await this.#lister.list(named);
    return entries.map((entry) => ({
      name: entry.source.name,
      tools: knownTools(entry)?.tools.map(({ name }) => name) ?? [],
    }));
  }
}

function codeIn({ params }: ParsedRequest): string {
  const args = isObject(params) ? params.arguments : undefined;
  const { code } = isObject(args) ? args : {};
  if (typeof code === 'string' && code.trim() !== '') return code;
  throw new SwitchboardError('ARGS_INVALID', 'run_code needs code: a script, as a string.', {
    hint: 'For example {"code":"return await server.tool({})"}.',
  });
}
