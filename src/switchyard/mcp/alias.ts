import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../shared/errors.ts';
import { CONFIG_FILE } from '../config/find.ts';
import type { State } from '../state/records.ts';

/** The root of the project registered under a name. The root itself must contain the file; parents are not searched. */
export function rootOfAlias(state: State, alias: string): string {
  refuseAlias(alias);
  const root = Object.hasOwn(state.project_aliases, alias) ? state.project_aliases[alias] : undefined;
  if (root === undefined)
    throw new SwitchboardError(
      'ALIAS_UNKNOWN',
      `unknown MCP project '${alias}'; run \`switchyard mcp install --name ${alias}\` from the project`,
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
export function refuseAlias(name: string): void {
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
