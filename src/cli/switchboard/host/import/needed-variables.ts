import { printableLine } from '../../../../shared/printable.ts';
import type { PlannedServer } from './import-plan.ts';

/** A variable that servers of a configuration need. */
export interface VariableState {
  readonly name: string;
  readonly servers: readonly string[];
  /** Whether a secret stood there before. */
  readonly secret: boolean;
  /** Whether it is set in this environment; `other`: to something else than what stood there. */
  readonly state: 'set' | 'unset' | 'other';
}

/** The variables that servers need, in the order of their names. */
export function neededVariables(planned: readonly PlannedServer[], env: NodeJS.ProcessEnv): VariableState[] {
  const found = new Map<string, VariableState>();
  for (const { as, variables, state } of planned) {
    if (state === 'unusable') continue;
    for (const { name, secret } of variables) {
      const before = found.get(name);
      const value = env[name];
      const set = value === undefined ? 'unset' : secret === undefined || value === secret ? 'set' : 'other';
      found.set(name, {
        name,
        servers: [...new Set([...(before?.servers ?? []), as])],
        secret: before?.secret === true || secret !== undefined,
        state: before === undefined || before.state === 'set' ? set : before.state,
      });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What to do about those that are not as they should be, in lines. */
export function variablesText(variables: readonly VariableState[]): string {
  const missing = variables.filter(({ state }) => state !== 'set');
  if (missing.length === 0) return '';
  const lines = missing.map(({ name, servers, secret, state }) => {
    const from = secret ? ", whose value was in the host's file" : '';
    const now = state === 'other' ? ' (set to a different value here)' : '';
    return `  ${name}: for ${servers.map(printableLine).join(', ')}${from}${now}\n`;
  });
  return `Set these variables where the gateway is started:\n${lines.join('')}`;
}
