import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../../config/index.ts';
import type { Host, HostServer, HostEnvironment } from '../../../../hosts/index.ts';
import { estimateTokens } from '../../../../shared/tokens.ts';
import type { Context } from '../../command.ts';
import { planImport } from '../import/import-plan.ts';
import { probeServers, type ProbeAnswer, type ProbedServer } from '../../server/probe-servers.ts';
import { listedCost, tokenCost } from '../../server/token-cost.ts';
import type { FoundServers, HostFile } from './importable-servers.ts';
import type { InitPlan } from './plan.ts';

/** What a conversation in a host starts with: the tools in its list, and the instructions of servers. */
export interface ToolLoad {
  readonly tools: number;
  /** Estimated. */
  readonly tokens: number;
}

/** What a host loads in this project, before and after. */
export interface HostLoad {
  readonly host: Host;
  readonly before: ToolLoad;
  readonly after: ToolLoad;
  /** Servers that it still starts itself, without Switchboard, as far as they were counted. */
  readonly direct: readonly string[];
  /** Servers that are not counted because they were not started, or failed to start. */
  readonly uncounted: readonly string[];
}

export interface CountedLoads {
  readonly loads: readonly HostLoad[];
  /** The results for the servers of the configuration. */
  readonly probed: readonly ProbedServer[];
}

export interface CountOptions {
  readonly plan: InitPlan;
  readonly found: FoundServers;
  readonly where: HostEnvironment;
  readonly context: Context;
  readonly onAnswer: (answer: ProbeAnswer) => void;
}

/** Starts every server that the chosen hosts load, once, and counts their tools. */
export async function countLoads(options: CountOptions): Promise<CountedLoads> {
  const { plan, found, where, context, onAnswer } = options;
  const config = await context.loadConfig('quietly');
  const app = context.open(config);
  const probed = await probeServers(app, config.servers, context, onAnswer);
  await app.close();
  // From now on, servers use their own descriptions.
  const next = context.open(config);
  const ours: ToolLoad = {
    tools: next.gateway.tools.length,
    tokens: listedCost(next.gateway.tools) + estimateTokens(next.instructions()),
  };
  const costs = new Map<HostServer, ToolLoad>();
  for (const { planned } of plan.configs) {
    for (const { server, as } of planned) {
      const answer = probed.find((each) => each.server.name === as);
      const load = answer && loadOf(answer);
      if (load !== undefined) costs.set(server, load);
    }
  }
  shareAmongVariants(costs, found);
  const all = plan.hosts.map(({ file }) => file.location.host);
  const hosts = [...new Set(all)];
  const unknown = hosts
    .flatMap((host) => loadedBy(host, found, where))
    .filter((server) => !costs.has(server) && !isAsked(server, plan))
    // It may come from someone else and has not been approved.
    .filter(({ location }) => location.scope !== 'project');
  for (const [server, load] of await countDirect(unknown, options)) costs.set(server, load);
  return {
    probed,
    loads: hosts.map((host) => hostLoad(host, ours, costs, options)),
  };
}

/** Variants that are offered as one server have the same tools. */
function shareAmongVariants(costs: Map<HostServer, ToolLoad>, { importable }: FoundServers): void {
  for (const { variants } of importable) {
    const known = variants.map(({ server }) => costs.get(server)).find((load) => load !== undefined);
    if (known === undefined) continue;
    for (const { server } of variants) costs.set(server, known);
  }
}

/** Whether Switchboard has already started it. */
function isAsked(server: HostServer, { configs }: InitPlan): boolean {
  return configs.some(({ planned }) => planned.some((each) => each.server === server));
}

/** The servers that a host starts in this project. */
function loadedBy(host: Host, { hosts, teamFiles }: FoundServers, { cwd }: HostEnvironment): HostServer[] {
  const files: HostFile[] = [...hosts, ...teamFiles].filter(({ location }) => location.host === host);
  return files
    .flatMap(({ servers }) => servers)
    .filter(({ location }) => location.scope !== 'local' || location.project === cwd);
}

function hostLoad(
  host: Host,
  ours: ToolLoad,
  costs: ReadonlyMap<HostServer, ToolLoad>,
  { plan, found, where }: CountOptions,
): HostLoad {
  const moved = new Set(plan.hosts.flatMap(({ moves }) => moves));
  const had = loadedBy(host, found, where).filter(isEnabled);
  const direct = had.filter((server) => !moved.has(server));
  const hadOurs = [...found.hosts, ...found.teamFiles].some(
    (file) => file.location.host === host && file.ours !== undefined,
  );
  const sum = (servers: readonly HostServer[], more: readonly ToolLoad[]): ToolLoad => {
    const loads = [...servers.flatMap((server) => costs.get(server) ?? []), ...more];
    return {
      tools: loads.reduce((total, load) => total + load.tools, 0),
      tokens: loads.reduce((total, load) => total + load.tokens, 0),
    };
  };
  return {
    host,
    before: sum(had, hadOurs ? [ours] : []),
    after: sum(direct, [ours]),
    direct: direct.filter((server) => costs.has(server)).map(({ name }) => name),
    uncounted: had.filter((server) => !costs.has(server)).map(({ name }) => name),
  };
}

function isEnabled({ value }: HostServer): boolean {
  const { disabled, enabled } = value as Readonly<Record<string, unknown>>;
  return disabled !== true && enabled !== false;
}

function loadOf(answer: ProbedServer): ToolLoad | undefined {
  if (answer.kind === 'failed') return undefined;
  return {
    tools: (answer.behind ?? answer.tools).length,
    tokens: tokenCost(answer).flat,
  };
}

/** Starts servers as their hosts do, without Switchboard's configuration. */
async function countDirect(
  servers: readonly HostServer[],
  { where, context, onAnswer }: CountOptions,
): Promise<Map<HostServer, ToolLoad>> {
  const counted = new Map<HostServer, ToolLoad>();
  if (servers.length === 0) return counted;
  // The files may contain secrets.
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-init-'));
  try {
    const options = { where, directory, elsewhere: new Map(), hidesSecrets: false, takesOver: true };
    const { servers: planned, after } = planImport('{}\n', servers, options);
    const file = join(directory, 'switchboard.config.json');
    writeFileSync(file, after, { mode: 0o600 });
    const config = await loadConfig({ cwd: where.cwd, configPath: file, env: context.env });
    rmSync(file);
    const app = context.open(config);
    const probed = await probeServers(app, config.servers, context, onAnswer);
    await app.close();
    for (const { server, as } of planned) {
      const answer = probed.find((each) => each.server.name === as);
      const load = answer && loadOf(answer);
      if (load !== undefined) counted.set(server, load);
    }
    return counted;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
