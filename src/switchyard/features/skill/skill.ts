import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { expandHome } from '../../records/paths.ts';
import { SKILL_FILES } from './texts.ts';

/** Where Codex looks for skills. */
export const DEFAULT_SKILL_TARGET = '~/.codex/skills';

/** The instructions that teach an agent to use Switchyard. */
export function showSkill(): string {
  return SKILL_FILES['SKILL.md'];
}

export interface SkillInstallOptions {
  /** The directory of all skills, each in its own subdirectory. Default `~/.codex/skills`. */
  readonly target?: string;
  /** Replace an existing skill. Default false. */
  readonly force?: boolean;
}

export interface SkillInstalled {
  /** The directory of the skill. */
  readonly path: string;
  readonly files: readonly string[];
  readonly replaced: boolean;
}

/** Installs the skill in a directory of skills, completely or not at all, so that agents never read a part of it. */
export function installSkill({ target, force = false }: SkillInstallOptions = {}): SkillInstalled {
  const parent = resolve(expandHome(target ?? DEFAULT_SKILL_TARGET));
  const path = join(parent, 'switchyard');
  const replaced = isTaken(path);
  if (replaced && !force) {
    throw new SwitchboardError('SKILL_EXISTS', `${path} already exists.`, {
      hint: 'Pass --force to replace it, or --target for another directory.',
    });
  }
  let stage: string | undefined;
  try {
    mkdirSync(parent, { recursive: true });
    // In the same directory, so that it can be moved in one step.
    stage = mkdtempSync(join(parent, '.switchyard-'));
    const fresh = join(stage, 'new');
    for (const [name, text] of Object.entries(SKILL_FILES)) {
      mkdirSync(dirname(join(fresh, name)), { recursive: true });
      writeFileSync(join(fresh, name), text);
    }
    swapIn(path, fresh, join(stage, 'old'));
  } catch (error) {
    const code = nodeErrorCode(error) ?? 'unknown error';
    throw new SwitchboardError('SKILL_INSTALL', `The skill cannot be installed in ${parent} (${code}).`, {
      hint: 'Check that it is a directory you may write to, or pass --target for another one.',
      cause: error,
    });
  } finally {
    if (stage !== undefined) discard(stage, path);
  }
  return { path, files: Object.keys(SKILL_FILES), replaced };
}

/** Never deletes the only copy: if even the rollback failed, the old one stays for the user to find. */
function discard(stage: string, path: string): void {
  if (!existsSync(path) && existsSync(join(stage, 'old'))) return;
  rmSync(stage, { recursive: true, force: true });
}

/** Moves a directory to `path`; the existing one goes to `old`, and is restored if the move fails. */
export function swapIn(path: string, fresh: string, old: string): void {
  const before = isTaken(path);
  if (before) renameSync(path, old);
  try {
    renameSync(fresh, path);
  } catch (error) {
    if (before) renameSync(old, path);
    throw error;
  }
}

/** Whether the path exists, including a dangling link. */
function isTaken(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
