import { findExecutable } from '../../../process/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import { statOf } from '../../../shared/regular-file.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { ServiceDefinition } from '../../records/config/definition.ts';
import { resolveBranch } from '../../records/project/branch.ts';
import type { YardContext } from '../../records/project/context.ts';
import { listWorktrees } from '../../records/project/list-worktrees.ts';
import { localNameIn, whyNamed } from '../../records/state/project-name.ts';
import { withInterpreter } from '../../runtime/start/interpreter.ts';
import { serviceDirectory } from '../../runtime/start/prepare.ts';
import { renderCommand } from '../../runtime/start/template.ts';
import { answersInstead } from '../proxy/routes.ts';
import { envWarnings } from '../worktrees/env-warnings.ts';
import type { Finding } from './finding.ts';

/** Checks `switchyard.toml` for missing requirements and settings without effect. */
export async function examineProject(context: YardContext): Promise<readonly Finding[]> {
  const { config, env } = context;
  const { worktree } = await resolveBranch(context);
  return [
    ...examineName(context),
    ...config.warnings.map(({ line, message }): Finding => ({
      level: 'warning',
      what: `${config.file}:${line}: ${message}`,
      next: 'Correct it, or remove it.',
    })),
    ...envWarnings(config).map((warning): Finding => ({
      level: 'warning',
      what: `${config.root}: ${warning}.`,
      next: 'Create the file, or remove it from [env] in switchyard.toml.',
    })),
    ...config.services.flatMap((service) => examineService(service, worktree, env)),
  ];
}

/** Reports names that differ from the file without the user's choice, and addresses that another project has too. */
function examineName({ registry, config }: YardContext): readonly Finding[] {
  const state = registry.read();
  const why = localNameIn(state, config)?.chosen === false ? whyNamed(state, config) : undefined;
  const named: Finding[] =
    why === undefined
      ? []
      : [{ level: 'note', what: `${why}.`, next: 'To choose another name, run `switchyard rename NAME`.' }];
  const shared = Object.values(state.projects[config.root]?.services ?? {}).flatMap((record): Finding[] => {
    const other = answersInstead(state, record);
    if (other === undefined) return [];
    const next = `Run \`switchyard restart ${record.service} --branch ${shellWord(record.branch)}\` to give it its own address.`;
    return [{ level: 'warning', what: `${record.url} ${other}.`, next }];
  });
  return [...named, ...shared];
}

function examineService(
  service: ServiceDefinition,
  worktree: string,
  env: NodeJS.ProcessEnv,
): readonly Finding[] {
  const cwd = serviceDirectory(service, { worktree });
  if (statOf(cwd)?.isDirectory() === true) return examineCommand(service, cwd, env);
  return [
    {
      level: 'error',
      what: `The cwd of ${service.name} does not exist: ${cwd}.`,
      next: `Create it, or correct services.${service.name}.cwd in switchyard.toml.`,
    },
  ];
}

function examineCommand(service: ServiceDefinition, cwd: string, env: NodeJS.ProcessEnv): readonly Finding[] {
  const { name, command } = service;
  const next = `Install it, or correct services.${name}.command in switchyard.toml.`;
  let argv: readonly string[];
  const path = service.env.PATH ?? env.PATH;
  try {
    argv = withInterpreter(renderCommand(name, command, new Map()).argv, { cwd, path });
  } catch (error) {
    return [
      {
        level: 'error',
        what: messageOf(error),
        next: `Correct services.${name}.command in switchyard.toml.`,
      },
    ];
  }
  const [program = ''] = argv;
  // Placeholders are known only at the start.
  if (program.includes('{') || findExecutable(program, { cwd, path }) !== undefined) return [];
  const where = program.includes('/') ? `in ${cwd}` : 'on its PATH';
  return [{ level: 'error', what: `The command of ${name}, "${program}", was not found ${where}.`, next }];
}

/** Worktrees that were deleted by other means. */
export async function examineWorktrees(context: YardContext): Promise<readonly Finding[]> {
  const missing = (await listWorktrees(context)).filter((worktree) => worktree.missing && !worktree.locked);
  return missing.map(({ branch, path }) => ({
    level: 'warning',
    what: `The worktree of ${branch} is gone: ${path}.`,
    next: `Run \`switchyard prune\` to forget it, or \`switchyard create ${shellWord(branch)}\` to create it again.`,
  }));
}
