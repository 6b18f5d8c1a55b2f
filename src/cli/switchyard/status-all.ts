import { allProjects, type ProjectStatus } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { shellWord } from '../../shared/shell-word.ts';
import type { CommandOutcome } from '../command.ts';
import { Exit } from '../failure.ts';
import type { Style } from '../style.ts';
import type { YardInvocation } from './command.ts';
import { statusLines } from './status-view.ts';

/** All projects on this machine with their services, from any directory. */
export async function statusAll({ env }: Pick<YardInvocation, 'env'>): Promise<CommandOutcome> {
  const { warnings, ...found } = await allProjects(env);
  return {
    exitCode: Exit.ok,
    data: found,
    text: (style) => textOf(found.projects, style),
    ...(warnings.length === 0
      ? {}
      : { complaint: warnings.map((warning) => `warning: ${printableLine(warning)}\n`).join('') }),
  };
}

function textOf(projects: readonly ProjectStatus[], style: Style): string {
  if (projects.length === 0) return 'no projects registered\n';
  const blocks = projects.map((project) => [
    `${style.bold(printableLine(project.name))} ${printableLine(project.root)}`,
    ...remarksOf(project).map((line) => style.caution(printableLine(line))),
    ...statusLines(project, style),
  ]);
  return blocks.map((lines) => lines.map((line) => `${line}\n`).join('')).join('\n');
}

function remarksOf({ name, config, status, services }: ProjectStatus): readonly string[] {
  if (status === 'ok') return [];
  if (status === 'unreadable') return [`${config} is missing or cannot be read`];
  return [
    services.length === 0
      ? 'its directory is gone; `switchyard prune --all` forgets it'
      : `its directory is gone; \`switchyard down --project ${shellWord(name)}\` stops what runs`,
  ];
}
