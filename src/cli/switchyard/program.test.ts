import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assemblyForEsbuild } from '../../../scripts/lib/assembly.mjs';
import { YARD_COMMANDS } from './commands.ts';

let base: string;
let bin: string;
let project: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'switchyard-program-'));
  bin = join(base, 'bin');
  project = join(base, 'shop');
  mkdirSync(project);
  writeFileSync(join(base, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(project, 'switchyard.toml'),
    '[services.web]\ncommand = "node web.mjs"\n[services.worker]\ncommand = "node worker.mjs"\n',
  );
  await build({
    entryPoints: { switchyard: 'src/bins/switchyard.ts' },
    outdir: bin,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    plugins: [assemblyForEsbuild],
    define: { __VERSION__: '"1.2.3"' },
  });
  chmodSync(join(bin, 'switchyard.js'), 0o755);
  for (const name of ['switchyard', 'sy']) symlinkSync('switchyard.js', join(bin, name));
  env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    HOME: base,
    SWITCHYARD_HOME: join(base, 'home'),
  };
}, 60_000);

afterAll(() => rmSync(base, { recursive: true, force: true }));

function run(args: readonly string[], cwd = project, nodeArgs: readonly string[] = []) {
  const line = [...nodeArgs, join(bin, 'switchyard.js'), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, line, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, stdout, stderr };
}

test('it prints its name and version', () => {
  expect(run(['--version'])).toEqual({ status: 0, stdout: 'switchyard 1.2.3\n', stderr: '' });
  expect(run(['-v']).stdout).toBe('switchyard 1.2.3\n');
});

test('without arguments it prints the help, on one screen', () => {
  const { status, stdout, stderr } = run([]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(run(['--help']).stdout);
  expect(stdout).toBe(run(['help']).stdout);
  for (const word of ['sy init', 'sy create', 'sy up', 'sy checkout', 'switchyard.toml', 'SWITCHYARD_HOME'])
    expect(stdout).toContain(word);
  const lines = stdout.split('\n');
  expect(lines.length).toBeLessThan(50);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
});

describe('each command explains itself, with examples', () => {
  for (const { name, words } of YARD_COMMANDS) {
    test(name, () => {
      const { status, stdout } = run([name, '--help']);
      expect(status).toBe(0);
      expect(stdout).toContain(`Usage: switchyard ${name}${words === '' ? '' : ` ${words}`}`);
      expect(stdout).toMatch(/Examples:\n {2}\S/);
      expect(stdout).toContain('--json');
      expect(stdout).not.toContain('$0');
      expect(run(['help', name]).stdout).toBe(stdout);
    });
  }
});

test('a mistyped command gets a suggestion, and the exit code is 2', () => {
  expect(run(['stauts'])).toEqual({
    status: 2,
    stdout: '',
    stderr: 'error: Unknown command "stauts".\nhint: Did you mean "status"?\n',
  });
  expect(run(['mcp', 'instal'])).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^error: Unknown command "mcp instal"\.\nhint: Did you mean "mcp install"/),
  });
  expect(run(['mcp', 'bogus']).stderr).toContain('`switchyard help mcp` lists its commands.');
});

test('with --json an error is JSON on stdout with sorted keys, and stderr stays empty', () => {
  const { status, stdout, stderr } = run(['stauts', '--json']);
  expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
  expect(stdout).toBe(
    '{\n  "error": "Unknown command \\"stauts\\".",\n  "hint": "Did you mean \\"status\\"?",\n  "ok": false\n}\n',
  );
});

test('extra words, unknown flags and missing words are reported before anything is done', () => {
  expect(run(['status', 'web']).stderr).toContain('status takes no arguments');
  expect(run(['create']).stderr).toContain('create needs a branch.');
  expect(run(['up', '--profil', 'x']).stderr).toContain('Did you mean "--profile"?');
  expect(run(['logs', '--follow', '--json'])).toMatchObject({ status: 2, stderr: '' });
  expect(run(['logs', '-n', '0'])).toMatchObject({
    status: 2,
    stderr: 'error: --lines must be at least 1\n',
  });
  expect(run(['logs', '-n0'])).toMatchObject({ status: 2, stderr: 'error: --lines must be at least 1\n' });
  expect(run(['status', '--watch'])).toMatchObject({ status: 2, stdout: '' });
  expect(run(['status', '--watch']).stderr).toContain('`watch switchyard status`');
  expect(existsSync(join(base, 'home'))).toBe(false);
});

test('without a switchyard.toml the next step is named, and the exit code is 1', () => {
  const { status, stderr } = run(['status'], tmpdir());
  expect(status).toBe(1);
  expect(stderr).toMatch(/^error: No switchyard\.toml was found in .*\nhint: .*switchyard init/);
});

test('on Windows, every command is refused with the next step; help and version are not', () => {
  const claim = join(base, 'claim-windows.cjs');
  writeFileSync(claim, "Object.defineProperty(process, 'platform', { value: 'win32' });");
  const there = (...args: string[]) => run(args, project, ['--require', claim]);
  for (const args of [['status'], ['up', 'web'], ['mcp'], ['mcp', 'config'], ['doctor']])
    expect(there(...args)).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'error: On Windows, Switchyard needs WSL.\n' +
        'hint: Run it there: https://learn.microsoft.com/windows/wsl\n',
    });
  expect(JSON.parse(there('status', '--json').stdout)).toMatchObject({ ok: false });
  for (const args of [['--version'], ['--help'], ['help', 'up'], ['up', '--help']])
    expect(there(...args)).toMatchObject({ status: 0, stderr: '' });
});

test('a current directory that was deleted is reported', () => {
  const line = 'mkdir gone && cd gone && rmdir ../gone && switchyard status';
  const { status, stderr } = spawnSync('sh', ['-c', line], { cwd: base, env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('error: The current directory no longer exists.');
});

test('a closed stdout is not an error', () => {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'switchyard --help | head -n 1; switchyard help up | :'],
    {
      cwd: project,
      env,
      encoding: 'utf8',
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

/** What a shell offers for a line, by the script that the program prints for it. */
function offered(shell: 'bash' | 'zsh' | 'fish', words: readonly string[]): string[] {
  const quoted = ['switchyard', ...words].map((word) => `'${word}'`).join(' ');
  const script = {
    bash:
      `source <(switchyard completion bash); COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; ` +
      `_switchyard switchyard; printf '%s\\n' "\${COMPREPLY[@]}"`,
    // Outside of an edited line there is nothing to add candidates to, so the last step is ours.
    zsh:
      `compdef() { :; }; compadd() { print -rl -- $names; }; source <(switchyard completion zsh); ` +
      `words=(${quoted}); CURRENT=${words.length + 1}; PREFIX='${words.at(-1) ?? ''}'; _switchyard`,
    fish: `switchyard completion fish | source; complete -C '${['switchyard', ...words].join(' ')}'`,
  }[shell];
  const { stdout, stderr } = spawnSync(shell, ['-c', script], { cwd: project, env, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0]!)
    .sort();
}

describe.each(['bash', 'zsh', 'fish'] as const)('completion in %s', (shell) => {
  const installed = spawnSync(shell, ['-c', 'true']).status === 0;

  test.skipIf(!installed)(
    `completes commands, flags and services${installed ? '' : ` (${shell} is not installed)`}`,
    () => {
      expect(offered(shell, ['chec'])).toEqual(['checkout']);
      expect(offered(shell, ['down', 'w'])).toEqual(['web', 'worker']);
      expect(offered(shell, ['down', 'web', 'w'])).toEqual(['worker']);
      expect(offered(shell, ['up', '--pro'])).toEqual(['--profile']);
      expect(offered(shell, ['skill', ''])).toEqual(['install', 'show']);
    },
  );
});

const hasBash = spawnSync('bash', ['-c', 'true']).status === 0;

test.skipIf(!hasBash)('a branch named like a command is quoted where bash would run it', () => {
  const script =
    `source <(switchyard completion bash); switchyard() { printf '%s\\t%s\\n' 'x$(id);y' 'in a worktree'; }; ` +
    `COMP_WORDS=(switchyard up x); COMP_CWORD=2; _switchyard switchyard; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync('bash', ['-c', script], { cwd: project, env, encoding: 'utf8' });
  expect(stdout).toBe('x\\$\\(id\\)\\;y\n');
});

test('completion outside a project is silent', () => {
  expect(run(['__complete', 'down', ''], tmpdir())).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(run(['__complete'])).toMatchObject({ status: 0, stderr: '' });
});
