import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { withFileLock } from '../../../shared/file-lock.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { readRegularFile } from '../../../shared/regular-file.ts';
import { NotRegular, readForReplacing, replaceFile } from '../../../shared/replace-file.ts';
import { gitIn } from '../../records/git/git.ts';
import { realPath } from '../../records/paths.ts';
import { CONFIG_FILE } from '../../records/state/find-config.ts';
import { configText } from './config-text.ts';
import { detectService } from './detect.ts';

export interface InitOptions {
  readonly cwd: string;
  /** Overwrite an existing file. Default false. */
  readonly force?: boolean;
  /** Write nothing, only report what would be written. Default false. */
  readonly dryRun?: boolean;
  /** For git, and to find programs on the PATH. Default: ours. */
  readonly env?: NodeJS.ProcessEnv;
}

/** In the form of `--json`. */
export interface InitResult {
  readonly ok: true;
  readonly action: 'init';
  readonly dry_run: boolean;
  readonly written: boolean;
  readonly created_config: boolean;
  readonly overwrote_config: boolean;
  readonly created_local_state: boolean;
  /** Only for a dry run; otherwise the error is thrown. */
  readonly would_fail: boolean;
  readonly failure_reason: string | null;
  readonly root: string;
  readonly config: string;
  readonly config_exists: boolean;
  readonly would_write_config: boolean;
  readonly local_state: string;
  readonly would_create_local_state: boolean;
  readonly would_update_git_exclude: boolean;
  readonly detected_service: {
    readonly name: string;
    readonly command: string;
    readonly port: number;
    readonly reason: string;
  };
  readonly config_text: string;
}

/** Writes a `switchyard.toml` for the current repository, or for the directory without git. */
export async function initProject(options: InitOptions): Promise<InitResult> {
  const { cwd, force = false, dryRun = false, env = process.env } = options;
  const { root, commonDirectory } = await findRoot(cwd, env);
  const config = join(root, CONFIG_FILE);
  const localState = join(root, LOCAL_STATE);
  const exists = existsSync(config);
  const blocked = exists && !force;
  const exclude =
    commonDirectory === undefined ? undefined : readExclude(join(commonDirectory, 'info', 'exclude'));
  const service = detectService({ root, path: env.PATH });
  const present = ['.env', '.env.local'].filter((name) => existsSync(join(root, name)));
  const text = configText({
    name: basename(root),
    service,
    link: [...present, ...(service.link ?? [])],
  });
  const needsLocalState = !existsSync(join(localState, '.gitignore'));
  const plan = {
    root,
    config,
    config_exists: exists,
    would_fail: blocked,
    failure_reason: blocked ? `${config} already exists; pass --force to overwrite` : null,
    would_write_config: !blocked,
    local_state: localState,
    would_create_local_state: !blocked && needsLocalState,
    would_update_git_exclude: !blocked && exclude?.lacksEntry === true,
    detected_service: {
      name: service.name,
      command: service.command,
      port: service.port,
      reason: service.reason,
    },
    config_text: text,
  };
  if (dryRun) return { ok: true, action: 'init', dry_run: true, ...NOTHING_DONE, ...plan };
  if (blocked) throw alreadyThere(config);

  if (needsLocalState) write(join(localState, '.gitignore'), '*\n!.gitignore\n');
  // A file created in this moment is not overwritten.
  if (!write(config, text, { replace: force })) throw alreadyThere(config);
  if (exclude?.lacksEntry === true) await addToExclude(exclude);
  return {
    ok: true,
    action: 'init',
    dry_run: false,
    written: true,
    created_config: !exists,
    overwrote_config: exists,
    created_local_state: needsLocalState,
    ...plan,
  };
}

/** For state that belongs to one machine. */
const LOCAL_STATE = '.switchyard';
const NOTHING_DONE = {
  written: false,
  created_config: false,
  overwrote_config: false,
  created_local_state: false,
} as const;

async function findRoot(
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly root: string; readonly commonDirectory: string | undefined }> {
  const here = realPath(cwd);
  try {
    const ran = await gitIn(here, env).try(['rev-parse', '--show-toplevel', '--git-common-dir']);
    const [top, common] = ran.stdout.split('\n');
    if (ran.code === 0 && top && common)
      return { root: resolve(top), commonDirectory: resolve(here, common) };
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code !== 'GIT_MISSING') throw error;
  }
  return { root: here, commonDirectory: undefined };
}

interface ExcludeFile {
  readonly path: string;
  readonly text: string;
  readonly lacksEntry: boolean;
}

function readExclude(path: string): ExcludeFile {
  let text = '';
  try {
    text = readRegularFile(path).toString('utf8');
  } catch {
    // The file is created if it is missing.
  }
  const lacksEntry = !text.split('\n').some((line) => /^\/?\.switchyard\/?$/.test(line.trim()));
  return { path, text, lacksEntry };
}

/** Only a convenience: the directory ignores its own content anyway. */
async function addToExclude({ path }: ExcludeFile): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    await withFileLock(path, () => {
      // Another program may have added it in the meantime.
      const { text, lacksEntry } = readExclude(path);
      const front = text === '' || text.endsWith('\n') ? '' : '\n';
      if (lacksEntry) appendFileSync(path, `${front}${LOCAL_STATE}/\n`);
    });
  } catch {
    // A read-only repository is still a project.
  }
}

/** Returns false without a change if there is a file that is not to be replaced. */
function write(path: string, text: string, { replace = true } = {}): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const bytes = Buffer.from(text, 'utf8');
    if (!replace) return replaceFile(path, undefined, bytes);
    // If another program is faster, its version is replaced, too.
    while (!replaceFile(path, readForReplacing(path), bytes));
    return true;
  } catch (error) {
    const why = error instanceof NotRegular ? error.message : (nodeErrorCode(error) ?? 'unknown error');
    throw new SwitchboardError('YARD_INIT', `${path} cannot be written (${why}).`, {
      hint: 'Check the permissions of the directory, and that no file has that name.',
      cause: error,
    });
  }
}

function alreadyThere(config: string): SwitchboardError {
  return new SwitchboardError('YARD_EXISTS', `${config} already exists; pass --force to overwrite it.`, {
    hint: 'Add --dry-run to see what would be written.',
  });
}
