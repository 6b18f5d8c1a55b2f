import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProject, type Project } from '../../../test/helpers/temp-project.ts';
import { recordIn, withRecord } from './record.ts';
import { wrapperScript } from './script.ts';

/** A name with characters that end a line or a string in JavaScript. */
const NAME = 'a"b`${c}\u2028*/';

async function runScript(project: Project, args: readonly string[] = []) {
  const child = spawn(process.execPath, [project.path('wrapper.mjs'), ...args], {
    env: { ...process.env, PATH: project.path('bin') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end('from the host');
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

test('the script runs the installed program in its own process, for its folder, with its arguments', async () => {
  const project = createProject({
    'program.mjs': 'console.log(JSON.stringify([...process.argv.slice(1), process.pid]));',
  });
  const script = wrapperScript(NAME, { kind: 'installed', program: project.path('program.mjs') });
  project.write('wrapper.mjs', withRecord(script, { server: NAME, config: {} }));
  const { code, stdout } = await runScript(project, ['--model', 'm']);
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as unknown[]).slice(0, -1)).toEqual([
    ...[project.path('program.mjs'), 'language-server', project.dir, '--model', 'm'],
  ]);
});

test('the script finds the program of the project where it came from another machine', async () => {
  const project = createProject({
    'node_modules/mcp-switchboard/package.json': { name: 'mcp-switchboard', type: 'module' },
    'node_modules/mcp-switchboard/dist/index.js': 'console.log(process.argv[2]);',
    'wrapper.mjs': wrapperScript('memory', { kind: 'installed', program: '/nowhere/index.js' }),
  });
  expect(await runScript(project)).toEqual({ code: 0, stdout: 'language-server\n', stderr: '' });
});

test('the script finds the command of another machine, which has the program elsewhere', async () => {
  const project = createProject({
    'bin/mcp-switchboard': `#!${process.execPath}\nprocess.stdin.pipe(process.stdout); console.error(process.argv.slice(2).join()); process.exitCode = 7;`,
    'wrapper.mjs': wrapperScript('memory', { kind: 'installed', program: '/nowhere/index.js' }),
  });
  chmodSync(project.path('bin/mcp-switchboard'), 0o755);
  expect(await runScript(project, ['--max-steps', '3'])).toEqual({
    code: 7,
    stdout: 'from the host',
    stderr: `language-server,${project.dir},--max-steps,3\n`,
  });
});

test('the script says what to do where the program is gone', async () => {
  const project = createProject({
    'wrapper.mjs': wrapperScript('memory', { kind: 'installed', program: '/nowhere/index.js' }),
  });
  const { code, stderr } = await runScript(project);
  expect(code).toBe(1);
  expect(stderr).toContain(project.path('wrapper.mjs'));
  expect(stderr).toContain('npm install -g mcp-switchboard');
  expect(stderr).toContain(`npx mcp-switchboard unwrap ${JSON.stringify(project.dir)}`);
});

test('where the program is fetched for each run, the script has it fetched, and passes on what it is given', async () => {
  const project = createProject({
    npx: `#!${process.execPath}\nprocess.stdin.pipe(process.stdout); console.error(JSON.stringify(process.argv.slice(2))); process.exitCode = 7;`,
  });
  chmodSync(project.path('npx'), 0o755);
  const launch = { kind: 'fetched', command: project.path('npx'), args: ['-y', 'mcp-switchboard'] } as const;
  project.write('wrapper.mjs', wrapperScript('memory', launch));
  const { code, stdout, stderr } = await runScript(project, ['--max-steps', '3']);
  expect({ code, stdout }).toEqual({ code: 7, stdout: 'from the host' });
  expect(JSON.parse(stderr)).toEqual([
    ...['-y', 'mcp-switchboard', 'language-server', project.dir, '--max-steps', '3'],
  ]);
});

test('where that cannot be started, the script says what to do', async () => {
  const launch = { kind: 'fetched', command: '/nowhere/npx', args: [] } as const;
  const project = createProject({ 'wrapper.mjs': wrapperScript('memory', launch) });
  const { code, stderr } = await runScript(project);
  expect(code).toBe(1);
  expect(stderr).toContain('npm install -g mcp-switchboard');
});

test('a record is read back and detects a change; anything else is no record', () => {
  const script = wrapperScript(NAME, { kind: 'installed', program: '/x' });
  const text = withRecord(script, { server: NAME, config: { name: NAME }, instructions: 'd' });
  expect(recordIn(text)).toMatchObject({
    record: { server: NAME, config: { name: NAME }, instructions: 'd' },
    isChanged: false,
  });
  expect(recordIn(`// mine\n${text}`)?.isChanged).toBe(true);
  for (let length = script.length; length < text.length - 1; length++)
    expect(recordIn(text.slice(0, length))).toBeUndefined();
  expect(recordIn(script)).toBeUndefined();
  expect(recordIn(text.replace('"version":1', '"version":2'))).toBeUndefined();
});
