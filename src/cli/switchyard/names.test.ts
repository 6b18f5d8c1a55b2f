import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { candidates as complete } from '../kit/completion/candidates.ts';
import { switchyard } from './main.ts';
import { yardNames } from './names.ts';

let base: string;
let env: NodeJS.ProcessEnv;
let project: string;

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'switchyard-candidates-'));
  project = join(base, 'shop');
  mkdirSync(project);
  env = { ...process.env, SWITCHYARD_HOME: join(base, 'home') };
  writeFileSync(
    join(project, 'switchyard.toml'),
    '[services.web]\ncommand = "node web.mjs"\n[services.worker]\ncommand = "node worker.mjs"\n' +
      '[services.api]\ncommand = "node api.mjs"\n[profiles.small]\nservices = ["api"]\n',
  );
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');
  git('branch', 'idle');
  git('worktree', 'add', '-q', '-b', 'feature/x', join(base, 'x'));
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

const candidates = (typed: readonly string[], here: { cwd: string; env: NodeJS.ProcessEnv }) =>
  complete(typed, { ...switchyard, names: yardNames(here) });

/** The words alone, for what was typed so far. */
async function found(...typed: string[]): Promise<string[]> {
  const lines = await candidates(typed, { cwd: project, env });
  return lines.map((line) => line.split('\t')[0]!);
}

test('the first word is a command, without hidden ones', async () => {
  expect(await found('')).toEqual(expect.arrayContaining(['up', 'down', 'status', 'help']));
  expect(await found('')).not.toContain('forward');
  expect(await found('re')).toEqual(['restart', 'remove', 'rename']);
  expect(await found('help', 'br')).toEqual(['brief']);
});

test('each candidate has a description', async () => {
  expect(await candidates(['where', 'wo'], { cwd: project, env })).toEqual(['worker\tnode worker.mjs']);
  expect(await candidates(['dow'], { cwd: project, env })).toEqual(['down\tstop services']);
});

test('an argument that may be a branch or a service offers both, then only services, each once', async () => {
  expect((await found('up', '')).sort()).toEqual(['api', 'feature/x', 'main', 'web', 'worker']);
  expect(await found('up', 'feature/x', 'w')).toEqual(['web', 'worker']);
  expect(await found('up', 'feature/x', 'web', 'w')).toEqual(['worker']);
  for (const command of ['down', 'restart', 'logs']) {
    expect((await found(command, '')).sort()).toEqual(['api', 'feature/x', 'main', 'web', 'worker']);
    expect(await found(command, 'feature/x', 'w')).toEqual(['web', 'worker']);
  }
  expect((await found('checkout', '')).sort()).toEqual(['feature/x', 'main']);
  expect(await found('where', 'web', 'f')).toEqual(['feature/x']);
  expect(await found('where', 'web', 'main', '')).toEqual([]);
});

test('create offers all branches', async () => {
  expect((await found('create', '')).sort()).toEqual(['feature/x', 'idle', 'main']);
});

test('flags are completed, each once, and so are their values', async () => {
  expect(await found('up', '--')).toEqual(expect.arrayContaining(['--json', '--branch', '--profile']));
  expect(await found('up', '--json', '--j')).toEqual([]);
  expect(await found('up', '--branch', 'f')).toEqual(['feature/x']);
  expect(await found('up', '--profile', '')).toEqual(['small']);
  expect(await found('logs', '-n', '')).toEqual([]);
  expect(await found('--v')).toEqual(['--version']);
});

test('a value after the equals sign is completed as the shell expects', async () => {
  expect(await found('up', '--branch=f')).toEqual(['--branch=feature/x']);
  // bash hands over three words.
  expect(await found('up', '--branch', '=', 'f')).toEqual(['feature/x']);
  expect(await found('up', '--branch', '=')).toEqual(['feature/x', 'main']);
});

test('directories are left to the shell', async () => {
  expect(await found('create', 'b', '--path', '/tm')).toEqual([':directories']);
});

test('fixed arguments of a command are completed', async () => {
  expect(await found('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await found('skill', 'in')).toEqual(['install']);
});

test('an unknown command has no candidates', async () => {
  expect(await found('nonsense', '')).toEqual([]);
});
