import { doctor as examine, type Diagnosis, type FailedDiagnosis } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import type { Style } from '../../kit/style.ts';
import type { YardCommand } from '../invocation.ts';
import { asLines } from '../../kit/text.ts';

export const yardDoctorCommand: YardCommand = {
  about: [
    'Checks switchyard.toml, the programs it names, git, the records, the ports, the processes and name ' +
      'resolution. Says how to fix each problem. It changes nothing. The exit code is 1 if it finds a ' +
      'problem.',
  ],
  flags: [],
  examples: [
    ['$0 doctor', 'when something does not work'],
    ["$0 doctor --json | jq -r '.findings[].next'", 'what to do'],
  ],
  async run(_given, { cwd, env }) {
    const found = await examine({ cwd, env });
    return {
      exitCode: found.ok ? Exit.ok : Exit.failed,
      data: found,
      text: (style) => textOf(found, style),
    };
  },
};

function textOf(found: Diagnosis | FailedDiagnosis, style: Style): string {
  const lines = [
    `switchyard: ${found.switchyard}`,
    `node: ${found.node}`,
    `home: ${found.home}`,
    ...('project' in found ? projectLines(found) : [`directory: ${found.cwd}`]),
  ].map(printableLine);
  const findings = found.findings.flatMap(({ level, what, next }) => [
    `${painted(level, style)}: ${printableLine(what)}`,
    `  ${printableLine(next)}`,
  ]);
  const isSound = found.findings.every(({ level }) => level === 'note');
  const verdict = isSound ? [style.good('no problems found')] : [];
  return asLines([...lines, ...verdict, ...findings]);
}

function projectLines({ project, proxy, services, profiles, env_warnings }: Diagnosis): string[] {
  return [
    `project: ${project.name} (${project.root})`,
    `config: ${project.config}`,
    `proxy: ${proxy.url}`,
    `services: ${services.join(', ')}`,
    ...(profiles.length === 0 ? [] : [`profiles: ${profiles.join(', ')}`]),
    ...env_warnings.map((warning) => `env: ${warning}`),
  ];
}

function painted(level: Diagnosis['findings'][number]['level'], style: Style): string {
  const paint = { error: style.bad, warning: style.caution, note: style.dim }[level];
  return paint(level);
}
