import { describeCommand, describeVariables, type LoadedConfig, type NotAllowed } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';

/**
 * Everything in a project that is not allowed yet: what its configuration would start, and the services that a built-in
 * Switchyard could start there. Undefined if nothing is left to allow.
 */
export async function everythingToAllow(
  config: LoadedConfig,
  env: NodeJS.ProcessEnv,
): Promise<NotAllowed | undefined> {
  const { notAllowed, servers, directory } = config;
  const inUse = servers.flatMap((server) => (server.kind === 'builtin' && !server.named ? [server] : []));
  const builtins = [...(notAllowed?.builtins ?? []), ...inUse];
  if (builtins.length === 0) return notAllowed;
  const { bindProject, isRegistered, openBoundProject } = await import('../switchyard/index.ts');
  const approval = config.openApproval();
  const runs = new Map<string, string[]>();
  for (const { directory: from, project } of builtins) {
    const bound = ifUsable(() => bindProject({ directory: from, project }, env));
    if (bound?.found !== true || isRegistered(bound.root, env)) continue;
    const yard = ifUsable(() => openBoundProject(bound, env).config);
    if (yard === undefined || runs.has(yard.file) || approval.allows(yard.file)) continue;
    runs.set(yard.file, [
      ...yard.services.map((each) => describeCommand(`service ${each.name}`, each.command, each)),
      ...yard.profiles.flatMap((each) => describeVariables(`profile ${each.name}`, each.env)),
    ]);
  }
  if (runs.size === 0) return notAllowed;
  const before = notAllowed ?? { directory, files: [], runs: [], builtins };
  return {
    ...before,
    files: [...before.files, ...approval.notAllowed],
    runs: [...before.runs, ...[...runs.values()].flat()],
  };
}

/** An unusable file starts nothing, and using it reports why. */
function ifUsable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SwitchboardError) return undefined;
    throw error;
  }
}
