import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { checkServer, type CheckedServer } from './check-server.ts';
import type { ProgramVariant } from './program-variant.ts';
import { describeWarning, keyPath, withPathPrefix, type Note, type ConfigProblem } from './problem.ts';
import { brokenConfigRules } from './rules.ts';
import type { ConfigInput } from './schema/config.ts';
import { isConfig } from './schema/quick-check.generated.js';
import { withoutUnknownKeys } from './unknown-keys.ts';

/** A configuration that has been checked. */
export interface CheckedConfig {
  /** Everything except its servers, without unknown keys. Valid only if there are no fatal problems. */
  readonly config: Omit<ConfigInput, 'mcpServers'>;
  /** By name, in the order written. Paths in them start at the entry. */
  readonly servers: ReadonlyMap<string, CheckedServer>;
  /** What makes the configuration as a whole unusable. */
  readonly fatal: readonly ConfigProblem[];
  /** What was ignored outside of its servers. */
  readonly notes: readonly Note[];
}

/** Checks a configuration against the schema and the rules that go beyond it. */
export async function checkConfig(value: unknown, variant: ProgramVariant): Promise<CheckedConfig> {
  const { mcpServers, rest } = isObject(value) ? apart(value) : { mcpServers: undefined, rest: value };
  const servers = new Map<string, CheckedServer>();
  if (isObject(mcpServers))
    for (const [name, entry] of Object.entries(mcpServers)) servers.set(name, await checkServer(name, entry));
  // The schema library is loaded only if something is wrong.
  const checked = await withoutUnknownKeys(rest, isConfig, async (each) =>
    (await import('./explain.ts')).explainConfig(each),
  );
  const fatal = [...checked.problems, ...brokenConfigRules(checked.value, variant)];
  return { config: checked.value as ConfigInput, servers, fatal, notes: checked.notes };
}

/** Servers are checked separately, so that an invalid one affects only itself. */
function apart(value: Readonly<Record<string, unknown>>): { mcpServers: unknown; rest: unknown } {
  const { mcpServers, ...rest } = value;
  const isMap = mcpServers === undefined || isObject(mcpServers);
  return { mcpServers, rest: isMap ? rest : value };
}

/** Every problem of a configuration, with paths from its top. */
export function allProblems({ fatal, servers }: CheckedConfig): ConfigProblem[] {
  const inServers = [...servers].flatMap(([name, checked]) =>
    checked.kind === 'unusable' ? withPathPrefix(['mcpServers', name], checked.problems) : [],
  );
  return [...fatal, ...inServers];
}

/** The error for a configuration that cannot be used, one line for each problem. */
export function invalidConfig(file: string, problems: readonly ConfigProblem[]): SwitchboardError {
  const lines = problems.map(({ path, message }) => describeWarning({ file, key: keyPath(path), message }));
  return new SwitchboardError('CONFIG_INVALID', lines.join('\n'), {
    hint: 'Fix the configuration and start again.',
  });
}
