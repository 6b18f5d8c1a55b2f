import { brief, type Brief } from '../../../switchyard/index.ts';
import { type YardCommand, unknownBranch } from '../invocation.ts';
import { printableLine } from '../../../shared/printable.ts';
import { asLines } from '../../kit/text.ts';
import type { Style } from '../../kit/style.ts';
import { painted } from '../service/painted.ts';

export const yardBriefCommand: YardCommand = {
  about: [
    'Shows what is configured, what runs and where, which branch each canonical port points to, changed files, ' +
      'missing env files and the latest errors in the logs. It only reads and is fast, so it is a good first call ' +
      'for an agent. In a worktree it covers that branch; from the project root, all branches.',
  ],
  flags: [],
  examples: [
    ['$0 brief', 'for a person'],
    ['$0 brief --json', 'for an agent'],
    ['$0 brief feature-x', 'only one branch'],
  ],
  run: ({ words: [branch] }, invocation) =>
    invocation.inYard(async (yard) => {
      const found = await brief(yard, { branch });
      return {
        data: found,
        text: (style) => briefText(found, style),
        complaint: found.services.length === 0 ? await unknownBranch(yard, branch) : '',
      };
    }),
};

/** Maximum lines per section in the text output; --json has more. */
const CHANGED_FILES = 20;
const WARNINGS = 10;
const ERRORS = 10;

/** The brief as text: what is configured, what runs, what changed, what is wrong. */
export function briefText(brief: Brief, style: Style): string {
  const section = (title: string, lines: readonly string[], most = Infinity): string[] => {
    if (lines.length === 0) return [];
    const left = lines.length - most;
    const shown = lines.slice(0, most).map((line) => `- ${line}`);
    return [style.bold(`${title}:`), ...shown, ...(left > 0 ? [`  … and ${left} more`] : [])];
  };
  const services = brief.services.map(
    ({ service, branch, state, note, url }) =>
      `${printableLine(nameOf(brief, service, branch))} [${painted(state, style)}]: ${printableLine(url)}` +
      (note === undefined ? '' : ` (${printableLine(note)})`),
  );
  const checkouts = brief.checkouts.map(
    ({ service, branch, status, listen_host, listen_port, target_host, target_port }) =>
      `${printableLine(nameOf(brief, service, branch))} [${status === 'running' ? style.good(status) : style.bad(status)}]: ` +
      printableLine(`${listen_host}:${listen_port} -> ${target_host}:${target_port}`),
  );
  const lines = [
    `project: ${printableLine(brief.project)} (${printableLine(brief.project_root)})`,
    ...(brief.branch === null ? [] : [`branch: ${printableLine(brief.branch)}`]),
    ...section('configured services', brief.configured_services.map(printableLine)),
    ...section('configured profiles', brief.configured_profiles.map(printableLine)),
    ...(services.length === 0 ? [`${style.bold('services:')} none`] : section('services', services)),
    ...(brief.services.length > 0 && brief.proxy === 'not-running' ? [PROXY_DEAD] : []),
    ...section('checkouts', checkouts),
    ...section('changed files', brief.changed_files.map(printableLine), CHANGED_FILES),
    ...section('env warnings', brief.env_warnings.map(printableLine), WARNINGS),
    ...section(
      'recent errors',
      brief.recent_errors.map(({ service, line }) =>
        printableLine(service === null ? line : `${service}: ${line}`),
      ),
      ERRORS,
    ),
  ];
  return asLines(lines);
}

const PROXY_DEAD = 'proxy: not running, so these addresses do not work; `switchyard up` starts it';

/** Includes the branch if the brief covers several. */
function nameOf({ branch: scope }: Brief, service: string, branch: string): string {
  return scope === null ? `${service} (${branch})` : service;
}
