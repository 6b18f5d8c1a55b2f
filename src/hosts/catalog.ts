import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import { claudeCode } from './catalog/claude-code.ts';
import { claudeDesktop } from './catalog/claude-desktop.ts';
import { cline } from './catalog/cline.ts';
import { codex } from './catalog/codex.ts';
import { copilot } from './catalog/copilot.ts';
import { cursor } from './catalog/cursor.ts';
import { gemini } from './catalog/gemini.ts';
import { opencode } from './catalog/opencode.ts';
import { vscode } from './catalog/vscode.ts';
import { windsurf } from './catalog/windsurf.ts';
import { zed } from './catalog/zed.ts';
import type { Host } from './host.ts';

/** The supported hosts, in display order. */
export const HOSTS: readonly Host[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  windsurf,
  zed,
  cline,
  gemini,
  codex,
  copilot,
  opencode,
];

/** The host with this name or alias on the command line. Throws USAGE for any other word. */
export function findHost(word: string): Host {
  const wanted = word.toLowerCase();
  const host = HOSTS.find(({ name, aliases }) => name === wanted || aliases.includes(wanted));
  if (host !== undefined) return host;
  const names = HOSTS.map(({ name }) => name);
  const guess = didYouMean(wanted, [...names, ...HOSTS.flatMap(({ aliases }) => aliases)]);
  throw new SwitchboardError('USAGE', `Unknown host ${JSON.stringify(word)}.`, {
    hint: `${guess === undefined ? '' : `${guess} `}Available: ${names.join(', ')}.`,
  });
}
