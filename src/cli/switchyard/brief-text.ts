import type { Brief } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { Style } from '../style.ts';
import { painted } from './status-view.ts';

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
      `${printableLine(nameOf(brief, service, branch))} [${painted(status, style)}]: ` +
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
  return lines.map((line) => `${line}\n`).join('');
}

const PROXY_DEAD = 'proxy: not running, so these addresses do not work; `switchyard up` starts it';

/** Includes the branch if the brief covers several. */
function nameOf({ branch: scope }: Brief, service: string, branch: string): string {
  return scope === null ? `${service} (${branch})` : service;
}
