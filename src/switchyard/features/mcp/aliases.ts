import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { CONFIG_FILE } from '../../records/state/find-config.ts';
import { homeOf } from '../../records/state/home.ts';
import type { State } from '../../records/state/records.ts';
import { openRegistry } from '../../records/state/registry.ts';

export interface Registration {
  readonly alias: string;
  /** The project, without symbolic links. */
  readonly root: string;
  /** Whether to take over a name that points to another project. Default false. */
  readonly force?: boolean;
  /** Determines the state home. */
  readonly env: NodeJS.ProcessEnv;
}

/** Throws if the name is not available. Only reads. Returns whether another project loses it. */
export function checkAlias({ alias, root, force = false, env }: Registration): boolean {
  return replaces(openRegistry(homeOf(env)).read(), { alias, root, force });
}

/** Makes the name point to the project. */
export async function registerAlias({ alias, root, force = false, env }: Registration): Promise<void> {
  await openRegistry(homeOf(env)).change((state) => {
    replaces(state, { alias, root, force });
    state.project_aliases[alias] = root;
  });
}

/** Removes the name. Returns the root it pointed to. */
export async function unregisterAlias(alias: string, env: NodeJS.ProcessEnv): Promise<string> {
  refuseAlias(alias);
  return openRegistry(homeOf(env)).change(({ project_aliases: aliases }) => {
    const root = Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
    if (root === undefined)
      throw new SwitchboardError('ALIAS_UNKNOWN', `MCP project '${alias}' not found.`, {
        hint:
          didYouMean(alias, Object.keys(aliases)) ?? '`switchyard mcp projects` lists the registered names.',
      });
    Reflect.deleteProperty(aliases, alias);
    return root;
  });
}

function replaces(
  state: State,
  { alias, root, force }: Required<Pick<Registration, 'alias' | 'root' | 'force'>>,
): boolean {
  refuseAlias(alias);
  const other = Object.hasOwn(state.project_aliases, alias) ? state.project_aliases[alias] : undefined;
  if (other === undefined || other === root) return false;
  if (force) return true;
  throw new SwitchboardError(
    'ALIAS_TAKEN',
    `MCP project alias '${alias}' already points to ${other}; use --name for another project or --force to replace it`,
  );
}

export interface AliasList {
  readonly home: string;
  readonly state_path: string;
  readonly projects: readonly {
    readonly name: string;
    readonly root: string;
    /** Null if the project no longer has the file. */
    readonly config: string | null;
    readonly status: 'ok' | 'missing';
  }[];
}

/** All registered names, sorted. Only reads. */
export function listAliases(env: NodeJS.ProcessEnv): AliasList {
  const home = homeOf(env);
  const { project_aliases: aliases } = openRegistry(home).read();
  const projects = Object.entries(aliases)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, root]) => {
      const file = join(root, CONFIG_FILE);
      const there = existsSync(file);
      return {
        name,
        root,
        config: there ? file : null,
        status: there ? ('ok' as const) : ('missing' as const),
      };
    });
  return { home: home.root, state_path: home.stateFile, projects };
}

/** The root of the project registered under a name. The root itself must contain the file; parents are not searched. */
export function rootOfAlias(state: State, alias: string): string {
  refuseAlias(alias);
  const root = Object.hasOwn(state.project_aliases, alias) ? state.project_aliases[alias] : undefined;
  if (root === undefined)
    throw new SwitchboardError(
      'ALIAS_UNKNOWN',
      `Unknown MCP project '${alias}'; run \`switchyard mcp install --name ${alias}\` from the project.`,
      { hint: '`switchyard mcp projects` lists the registered names.' },
    );
  if (existsSync(join(root, CONFIG_FILE))) return root;
  throw new SwitchboardError(
    'ALIAS_STALE',
    `MCP project '${alias}' at ${root} no longer has ${CONFIG_FILE}; rerun \`switchyard mcp install --name ${alias}\` ` +
      'from the project',
  );
}

/** Throws if no project can be registered under this name. */
function refuseAlias(name: string): void {
  if (isAlias(name)) return;
  throw new SwitchboardError(
    'ALIAS_INVALID',
    'MCP server name may contain only letters, numbers, underscores and dashes',
  );
}

/** Whether a project can be registered under this name. */
export function isAlias(name: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(name);
}
