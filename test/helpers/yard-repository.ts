import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A repository with a `switchyard.toml`, and its own state home that does not exist yet. */
export interface YardRepository {
  /** The root of everything; removed when the test ends. */
  readonly folder: string;
  readonly root: string;
  readonly home: string;
  /** The environment: without the user's git settings, and with this home. */
  readonly env: NodeJS.ProcessEnv;
  /** The output of git, without the last newline. */
  readonly git: (...args: readonly string[]) => string;
  readonly gitIn: (directory: string, ...args: readonly string[]) => string;
  /** Writes a file below the root. */
  readonly write: (path: string, text: string) => void;
}

export const PLAIN_CONFIG =
  '[project]\nname = "shop"\n\n[services.web]\ncommand = "node server.js"\nport = 3000\n';

export interface YardRepositoryOptions {
  /** The text of `switchyard.toml`. */
  readonly config?: string;
  /** The subdirectory of the project within the repository. Default: its top. */
  readonly below?: string;
  /** Whether there is a first commit, with the config in it. Default true. */
  readonly committed?: boolean;
}

export function yardRepository(options: YardRepositoryOptions = {}): YardRepository {
  const { config = PLAIN_CONFIG, below = '', committed = true } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'yard-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const top = join(folder, 'shop');
  const root = join(top, below);
  const home = join(folder, 'home');
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    SWITCHYARD_HOME: home,
    GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const gitIn = (directory: string, ...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd: directory,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trimEnd();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  mkdirSync(root, { recursive: true });
  writeFileSync(
    join(folder, 'gitconfig'),
    '[init]\ndefaultBranch = main\n[user]\nname = Test\nemail = test@localhost\n[commit]\ngpgSign = false\n[gc]\nauto = 0\n',
  );
  gitIn(top, 'init', '-q');
  write('switchyard.toml', config);
  if (committed) {
    gitIn(top, 'add', '-A');
    gitIn(top, 'commit', '-q', '-m', 'first');
  }
  return { folder, root, home, env, git: (...args) => gitIn(root, ...args), gitIn, write };
}
