import { commandText, redactCommand, type ConfiguredServer } from '../../config/index.ts';
import type { ServerInfo, ServerInfoState } from '../../console/index.ts';
import type { Gateway, Source } from '../../gateway/index.ts';
import type { CatalogKind } from '../../protocol/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { plainLine } from '../../shared/printable.ts';
import { estimateTokens } from '../../shared/tokens.ts';
import type { TrustReview } from '../trust.ts';
import type { ServerManager } from '../../management/index.ts';
import { maskFor } from './definition-secrets.ts';
import type { DisabledServer } from './disabled-servers.ts';
import { problemOf } from './problem.ts';
import { promptTokens } from './prompt-tokens.ts';

/** The part of a workspace that is needed to show its servers. */
export interface ShownWorkspace {
  readonly gateway: Gateway;
  readonly manager: ServerManager;
}

/** Counts of calls. */
export type CallCounts = ServerInfo['calls'];

export interface ServerInfoContext {
  /** The id of the gateway. */
  readonly gateway: string;
  readonly env: NodeJS.ProcessEnv;
  readonly trust: Pick<TrustReview, 'countFor'>;
  /** The disabled servers of the configuration. */
  readonly disabled: readonly DisabledServer[];
  readonly countsOf: (server: string) => CallCounts;
}

/** If several sources have the same name, the one whose state comes first here is shown. */
const STATE_ORDER = ['running', 'starting', 'crashed', 'unusable', 'idle', 'stopped'];

/** Every server of a gateway, once per name. */
export function serverInfos(
  workspaces: Iterable<ShownWorkspace>,
  context: ServerInfoContext,
): Map<string, ServerInfo> {
  const found = new Map<string, { readonly source: Source; readonly workspace: ShownWorkspace }>();
  for (const workspace of workspaces) {
    for (const { source } of workspace.gateway.catalog.entries) {
      const known = found.get(source.name)?.source;
      if (known && STATE_ORDER.indexOf(known.state.kind) <= STATE_ORDER.indexOf(source.state.kind)) continue;
      found.set(source.name, { source, workspace });
    }
  }
  const exposed = new Map<Gateway, ReadonlyMap<string, number>>();
  const exposedBy = (gateway: Gateway): ReadonlyMap<string, number> => {
    const known = exposed.get(gateway) ?? exposedTokens(gateway);
    exposed.set(gateway, known);
    return known;
  };
  const infos = new Map<string, ServerInfo>();
  for (const [name, { source, workspace }] of found)
    infos.set(name, infoOf(source, workspace, context, exposedBy(workspace.gateway).get(name) ?? 0));
  for (const server of context.disabled)
    if (!infos.has(server.name)) infos.set(server.name, disabledInfo(server, context.gateway));
  return infos;
}

function infoOf(
  source: Source,
  { manager }: ShownWorkspace,
  { gateway, env, trust, countsOf }: ServerInfoContext,
  exposed: number,
): ServerInfo {
  const { name } = source;
  const definition = manager.find(name);
  const about = source.about();
  const tools = listing(source, 'tools');
  const count = (kind: CatalogKind): number | null => listing(source, kind)?.components.length ?? null;
  return {
    gateway,
    name,
    state: stateOf(source, manager, maskFor(definition, env)),
    kind: definition?.kind ?? 'unusable',
    command:
      definition === undefined || definition.kind === 'unusable'
        ? ''
        : commandText(redactCommand(definition)),
    file: fileOf(definition),
    exposure: definition?.exposure ?? 'suite',
    memory: null,
    protocolVersion: about?.protocolVersion ?? null,
    title: about === undefined ? null : titleOf(about.serverInfo),
    offers: {
      tools: count('tools'),
      resources: count('resources'),
      resourceTemplates: count('resourceTemplates'),
      prompts: count('prompts'),
    },
    tokens: tools === undefined ? null : { flat: flatTokens(tools.components, about?.instructions), exposed },
    toReview: definition === undefined || definition.kind === 'unusable' ? 0 : trust.countFor(definition),
    calls: countsOf(name),
  };
}

function disabledInfo({ name, file, command }: DisabledServer, gateway: string): ServerInfo {
  return {
    gateway,
    name,
    state: { kind: 'disabled' },
    kind: 'unusable',
    command,
    file,
    exposure: 'suite',
    memory: null,
    protocolVersion: null,
    title: null,
    offers: { tools: null, resources: null, resourceTemplates: null, prompts: null },
    tokens: null,
    toReview: 0,
    calls: NO_CALLS,
  };
}

export const NO_CALLS: CallCounts = { total: 0, failed: 0, running: 0 };

function fileOf(definition: ConfiguredServer | undefined): string | null {
  const file = definition?.origin.file ?? '';
  return file === '' ? null : file;
}

function listing(source: Source, kind: CatalogKind) {
  return source.known(kind) ?? source.remembered(kind);
}

function stateOf(source: Source, manager: ServerManager, mask: (text: string) => string): ServerInfoState {
  const { state } = source;
  switch (state.kind) {
    case 'starting': {
      const { admittedAt = Infinity } = state;
      const since = Number.isFinite(admittedAt) ? Math.round(performance.timeOrigin + admittedAt) : null;
      return { kind: 'starting', since };
    }
    case 'running': {
      const problem = manager.problemOf(source);
      return {
        kind: 'running',
        since: state.since,
        pid: state.pid ?? null,
        problem: problem === undefined ? null : problemOf(problem, mask),
      };
    }
    case 'crashed': {
      const problem = problemOf(state.error, mask);
      const needsLogin = state.error instanceof SwitchboardError && state.error.code === 'LOGIN_NEEDED';
      return needsLogin ? { kind: 'needs-login', problem } : { kind: 'failed', at: state.at, problem };
    }
    case 'unusable':
      return { kind: 'unusable', problem: problemOf(state.error, mask) };
    default:
      return { kind: state.kind };
  }
}

function titleOf(info: unknown): string | null {
  const { name, version } = isObject(info) ? info : {};
  const parts = [name, version].filter((part) => typeof part === 'string' && part !== '');
  return parts.length === 0 ? null : plainLine(parts.join(' ')).slice(0, 200);
}

/** What tools cost when exposed flat, including their server's instructions. */
function flatTokens(tools: readonly { readonly text: string }[], instructions: string | undefined): number {
  return tools.reduce(
    (sum, tool) => sum + promptTokens(tool, () => tool.text),
    estimateTokens(instructions ?? ''),
  );
}

/** What the exposed tools of a gateway cost, by server. */
function exposedTokens({ tools }: Gateway): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const tool of tools) {
    const { source } = tool;
    if (source !== undefined)
      sums.set(source, (sums.get(source) ?? 0) + promptTokens(tool, () => tool.definition));
  }
  return sums;
}
