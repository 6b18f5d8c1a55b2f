import { SwitchboardError } from '../shared/errors.ts';
import type { Face } from './face.ts';
import { describeWarning, keyPath, type Problem } from './problem.ts';
import { brokenConfigRules } from './rules.ts';
import { isConfig } from './schema/quick-check.generated.js';

/** What is wrong with a configuration. */
export interface CheckedConfig {
  /** What makes it unusable as a whole. */
  readonly fatal: readonly Problem[];
  /** What makes single entries of `mcpServers` unusable, by server name. */
  readonly byServer: ReadonlyMap<string, readonly Problem[]>;
}

/** Checks what a configuration says against the schema and the rules beyond it. */
export async function checkConfig(value: unknown, face: Face): Promise<CheckedConfig> {
  const valid = isConfig(value);
  // Only where needed, because it loads the schema library.
  const explained = valid ? NO_PROBLEMS : (await import('./explain.ts')).explainConfig(value);
  const fatal = [...explained.fatal];
  const byServer = new Map(explained.byServer);
  for (const problem of brokenConfigRules(value, face)) {
    const [first, second] = problem.path;
    const server = String(second);
    if (first !== 'mcpServers') fatal.push(problem);
    else byServer.set(server, [...(byServer.get(server) ?? []), problem]);
  }
  // Should the two ever disagree, the stricter one holds.
  if (!valid && fatal.length === 0 && byServer.size === 0)
    fatal.push({ path: [], message: 'is not a valid configuration.' });
  return { fatal, byServer };
}

const NO_PROBLEMS: CheckedConfig = { fatal: [], byServer: new Map() };

/** The error for a configuration that cannot be used, one line for each problem. */
export function invalidConfig(file: string, problems: readonly Problem[]): SwitchboardError {
  const lines = problems.map(({ path, message }) => describeWarning({ file, key: keyPath(path), message }));
  return new SwitchboardError('CONFIG_INVALID', lines.join('\n'), {
    hint: 'Correct the configuration and start again.',
  });
}
