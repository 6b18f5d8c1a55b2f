import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startClient, textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

/** The programs in a folder of their own, as nobody has run them yet. */
function installed(): Project {
  const project = createProject();
  cpSync(join(ROOT, 'dist'), project.path('dist'), {
    recursive: true,
    filter: (path) => !path.includes('.compiled'),
  });
  return project;
}

/** What earlier runs have left beside the programs. */
function kept(project: Project): string[] {
  return readdirSync(project.path('dist/chunks')).filter((file) => file.includes('.compiled'));
}

function run(project: Project, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const [program, ...rest] = args;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [project.path('dist', `${program}.js`), ...rest],
    {
      cwd: project.dir,
      env: { ...process.env, SWITCHYARD_HOME: project.path('home'), ...env },
      encoding: 'utf8',
    },
  );
  return { status, stdout, stderr };
}

describe('what a run has compiled', () => {
  test('is kept beside the program by the first run of a command, and left alone by the next', () => {
    const project = installed();
    const first = run(project, ['switchyard', 'skill', 'show']);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    const [file, another] = kept(project);
    expect(file).toBe(`switchyard-skill-${process.version}-${process.platform}-${process.arch}.compiled`);
    expect(another).toBeUndefined();
    const before = statSync(project.path('dist/chunks', file!));
    expect(run(project, ['switchyard', 'skill', 'show'])).toEqual(first);
    expect(statSync(project.path('dist/chunks', file!)).ino).toBe(before.ino);
    expect(statSync(project.path('dist/chunks', file!)).mtimeMs).toBe(before.mtimeMs);
  });

  test('is what the next run runs', () => {
    const project = installed();
    const first = run(project, ['switchyard', 'skill', 'show']);
    // Another text of the same length: only a run that compiles for itself can see it.
    const chunks = project.path('dist/chunks');
    for (const name of readdirSync(chunks).filter((each) => each.endsWith('.js'))) {
      const text = readFileSync(join(chunks, name), 'latin1');
      writeFileSync(join(chunks, name), text.replaceAll('switchyard_brief', 'switchyard_BRIEF'), 'latin1');
    }
    expect(run(project, ['switchyard', 'skill', 'show'])).toEqual(first);
    rmSync(join(chunks, kept(project)[0]!));
    expect(run(project, ['switchyard', 'skill', 'show']).stdout).toContain('switchyard_BRIEF');
  });

  test('is kept once a program that stays has started', async () => {
    const project = installed();
    project.write('switchboard.config.json', { mcpServers: { echo: nodeServer('echo') } });
    for (let start = 1; start <= 2; start++) {
      const client = startClient({
        command: process.execPath,
        args: [project.path('dist/index.js')],
        cwd: project.dir,
      });
      await client.initialize();
      const answer = await client.call('echo_suite', {
        action: 'call',
        subtool: 'echo',
        args: { text: 'x' },
      });
      expect(textOf(answer)).toBe('x');
      await until(() => kept(project).some((file) => file.startsWith('index-start-')));
      await client.close();
    }
    expect(kept(project).length).toBe(1);
  });

  test('is not kept by what went wrong, by a version, or with options of Node itself', () => {
    const project = installed();
    expect(run(project, ['switchyard', 'status']).status).not.toBe(0);
    expect(run(project, ['switchyard', 'nonsense']).status).not.toBe(0);
    expect(run(project, ['switchyard', '--version']).status).toBe(0);
    expect(
      run(project, ['switchyard', 'skill', 'show'], { NODE_OPTIONS: '--max-old-space-size=512' }).status,
    ).toBe(0);
    expect(kept(project)).toEqual([]);
  });

  test('is ignored and rebuilt if it is truncated', () => {
    const project = installed();
    const first = run(project, ['switchyard', 'skill', 'show']);
    const file = project.path('dist/chunks', kept(project)[0]!);
    for (const missing of [1, 100, Infinity]) {
      const { ino, size } = statSync(file);
      truncateSync(file, Math.max(size - missing, 0));
      expect(run(project, ['switchyard', 'skill', 'show'])).toEqual(first);
      expect(statSync(file).ino).not.toBe(ino);
    }
    writeFileSync(file, 'nonsense\n');
    expect(run(project, ['switchyard', 'skill', 'show'])).toEqual(first);
    rmSync(file);
    expect(run(project, ['switchyard', 'skill', 'show'])).toEqual(first);
  });
});
