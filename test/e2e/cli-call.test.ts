/** `switchboard tools` and `switchboard call`, over real servers. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import { marker, waitUntilGone } from '../helpers/processes.ts';
import type { Json } from '../helpers/raw-client.ts';
import { CRASH, echoProject, GONE, mixedProject, PROGRAM, runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer, npmServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('tools', () => {
  test('lists tools with their signature, marks hidden ones and reports failures', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: {
          echo: { ...nodeServer('echo'), expose: { deny: ['b*'] } },
          gone: GONE,
        },
      },
    });
    const { code, stdout } = await runCli(project, ['tools']);
    expect(code).toBe(1);
    expect(stdout).toContain('  add {a:number, b:number}\n      Adds two numbers.\n');
    expect(stdout).toContain('  big {bytes:integer} hidden\n');
    expect(stdout).toContain('failed: "gone" could not be started');
    const one = await runCli(project, ['tools', 'echo', '--json']);
    expect(one.code).toBe(0);
    const add = one.json.servers[0].tools.find((tool: Json) => tool.name === 'add');
    expect(add).toMatchObject({ input: '{a:number, b:number}', summary: 'Adds two numbers.', hidden: false });
    expect(add.definition.inputSchema.required).toEqual(['a', 'b']);
  });

  test('shows the names hosts use where they differ, and what matches no tool', async () => {
    const project = mixedProject();
    const { code, stdout, stderr } = await runCli(project, ['tools']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^suite → my_suite$/m);
    expect(stdout).toContain('  add {b:number} as plus\n      One more than b.\n');
    expect(stdout).toMatch(/^flat → flat \(flat__\*\)$/m);
    expect(stdout).toContain('  add {a:number, b:number} as flat__add\n');
    expect(stdout).toContain('  echo {text:string} as flat__say\n');
    expect(stdout).toMatch(/^ {2}big .* hidden$/m);
    expect(stdout).toMatch(/^hidden → hidden\n {2}echo \{text:string\}$/m);
    const where = `${project.path('switchboard.config.json')}: mcpServers.flat.hiddenTools[1]`;
    expect(stderr).toBe(
      `switchboard: ${where}: "biig" does not match any tool of this server. Did you mean "big"?\n`,
    );
    const { json, stderr: quiet } = await runCli(project, ['tools', '--json']);
    expect(quiet).toBe('');
    expect(json.servers[1].unmatched).toEqual([
      {
        file: project.path('switchboard.config.json'),
        key: 'mcpServers.flat.hiddenTools[1]',
        message: '"biig" does not match any tool of this server. Did you mean "big"?',
      },
    ]);
    const tool = (server: number, name: string) =>
      json.servers[server].tools.find((each: Json) => each.name === name);
    expect(tool(0, 'add')).toMatchObject({ exposed: 'plus', hidden: false, input: '{b:number}' });
    expect(tool(0, 'add').definition.inputSchema.required).toEqual(['a', 'b']);
    expect(tool(1, 'echo')).toMatchObject({ exposed: 'flat__say', hidden: false });
    expect(tool(1, 'big')).toMatchObject({ exposed: null, hidden: true });
    expect(tool(2, 'echo')).toMatchObject({ exposed: null, hidden: false });
    expect(tool(3, 'echo')).toMatchObject({ exposed: null, hidden: false });
  });

  test('a reader that is slow gets all of it, also over a pipe that does not wait', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { many: nodeServer('many-tools') } },
      // A Node program that uses its stdout makes the pipe so for all that have it.
      'wrapper.cjs': `const { spawn } = require('node:child_process');
        spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' });
        process.stdout.write('');`,
    });
    const mark = marker();
    const run = (line: string): { stdout: string; stderr: string } =>
      spawnSync('sh', ['-c', line], {
        cwd: project.dir,
        env: { ...process.env, ...mark.env },
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      });
    const tools = `"${PROGRAM}" tools --json`;
    const direct = run(`"${process.execPath}" ${tools}`);
    expect(direct.stdout.length).toBeGreaterThan(200_000);
    const piped = run(`"${process.execPath}" wrapper.cjs ${tools} | (sleep 1; cat)`);
    expect(piped.stderr).toBe('');
    expect(JSON.parse(piped.stdout)).toEqual(JSON.parse(direct.stdout));
    await waitUntilGone(mark, 5000);
  });

  test('a reader that goes away is a quiet end', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { many: nodeServer('many-tools') } },
    });
    const mark = marker();
    const line = `"${process.execPath}" "${PROGRAM}" tools | head -1`;
    const { stdout, stderr } = spawnSync('sh', ['-c', line], {
      cwd: project.dir,
      env: { ...process.env, ...mark.env },
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'many → many_suite\n', stderr: '' });
    await waitUntilGone(mark, 5000);
  });
});

describe('call', () => {
  test('types key=value by the schema and prints text', async () => {
    const project = echoProject();
    expect(await runCli(project, ['call', 'echo', 'add', 'a=2', 'b=3.5'])).toMatchObject({
      code: 0,
      stdout: '5.5\n',
      stderr: '',
    });
    expect((await runCli(project, ['call', 'echo', 'echo', 'text=5'])).stdout).toBe('5\n');
    expect((await runCli(project, ['call', 'echo', 'echo', '--args', '{"text":"a"}'])).stdout).toBe('a\n');
    expect(
      (await runCli(project, ['call', 'echo', 'echo', '--args', '-'], { input: '{"text":"b"}' })).stdout,
    ).toBe('b\n');
    project.write('args.json', { text: 'c' });
    expect((await runCli(project, ['call', 'echo', 'echo', '--args', '@args.json'])).stdout).toBe('c\n');
  });

  test('makes control characters visible, in text and in JSON', async () => {
    const project = echoProject();
    const said = '\u001b[2Jclear\u009b\u202e';
    const args = ['call', 'echo', 'echo', '--args', JSON.stringify({ text: said })];
    expect((await runCli(project, args)).stdout).toBe('clear\\x9b\\u{202e}\n');
    const { stdout, json } = await runCli(project, [...args, '--json']);
    // eslint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(json.content[0].text).toBe(said);
  });

  test('server-everything: numbers, an image, the whole result', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { everything: npmServer('everything') } },
    });
    const sum = await runCli(project, ['call', 'everything', 'get-sum', 'a=19', 'b=23']);
    expect(sum).toMatchObject({ code: 0, stdout: 'The sum of 19 and 23 is 42.\n' });
    const image = ['call', 'everything', 'get-tiny-image', '--output', 'shots'];
    for (const file of ['shots/get-tiny-image.png', 'shots/get-tiny-image-2.png']) {
      const { stdout } = await runCli(project, image);
      const path = /^\[image\/png, [\d.]+ kB, (.*)\]$/m.exec(stdout)?.[1];
      expect(path).toBe(project.path(file));
      expect(readFileSync(path!).subarray(1, 4).toString()).toBe('PNG');
    }
    const raw = await runCli(project, [...image, '--json']);
    expect(raw.json.content[1]).toMatchObject({ type: 'image', data: expect.any(String) });
    expect(raw.stderr).toBe(`${project.path('shots/get-tiny-image-3.png')}\n`);
    const structured = await runCli(project, [
      'call',
      'everything',
      'get-structured-content',
      'location=Chicago',
      '--json',
    ]);
    expect(structured.json.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  });

  test('a tool that fails is exit 1, in its own words', async () => {
    const project = echoProject();
    const inside = await runCli(project, ['call', 'echo', 'fail', 'message=not today']);
    expect(inside).toMatchObject({ code: 1, stdout: 'not today\n' });
    expect(inside.stderr).toBe('switchboard: the tool returned an error.\n');
    const outside = await runCli(project, ['call', 'echo', 'reject', 'message=no']);
    expect(outside).toMatchObject({ code: 1, stdout: '', stderr: 'switchboard: echo said: "no".\n' });
    const json = await runCli(project, ['call', 'echo', 'reject', 'message=no', '--json']);
    expect(json).toMatchObject({ code: 1, stderr: '' });
    expect(json.json.error).toMatchObject({ code: 'SERVER_ERROR', message: 'no', rpcCode: -32602 });
  });

  test('required arguments that are missing are named before anything is called', async () => {
    const project = echoProject();
    const { code, stdout, stderr } = await runCli(project, ['call', 'echo', 'add', 'a=1']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'switchboard: "add" needs the required argument b (number).\n' +
        '  Add b=…, or pass all arguments with --args JSON.\n',
    );
    // A server may be more generous than its schema, or complain in its own words.
    const whole = await runCli(project, ['call', 'echo', 'add', '--args', '{}']);
    expect(whole).toMatchObject({ code: 0, stdout: 'NaN\n', stderr: '' });
  });

  test('slips are exit 2, with the nearest name', async () => {
    const project = echoProject();
    const tool = await runCli(project, ['call', 'echo', 'ad', 'a=1']);
    expect(tool).toMatchObject({ code: 2, stdout: '' });
    expect(tool.stderr).toContain('Did you mean "add"');
    const key = await runCli(project, ['call', 'echo', 'echo', 'txt=1']);
    expect(key).toMatchObject({ code: 2, stdout: '' });
    expect(key.stderr).toContain('Did you mean "text"?');
    expect((await runCli(project, ['call', 'echo', 'add', 'a=x', 'b=1'])).stderr).toContain(
      'must be a number',
    );
    expect((await runCli(project, ['call', 'echo', 'add', '--args', '[]'])).code).toBe(2);
    expect((await runCli(project, ['call', 'echo', 'add', 'a=1', '--args', '{}'])).code).toBe(2);
  });

  test('a server that cannot be started is exit 3, with what it wrote', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { gone: GONE, crash: CRASH } },
    });
    const gone = await runCli(project, ['call', 'gone', 'x']);
    expect(gone).toMatchObject({ code: 3, stdout: '' });
    expect(gone.stderr).toMatch(/^switchboard: "gone" could not be started: .*\n {2}Install it/);
    const crash = await runCli(project, ['call', 'crash', 'x', '--json']);
    expect(crash.code).toBe(3);
    expect(crash.json.error).toMatchObject({ code: 'SERVER_LOST' });
    expect(crash.stderr).toContain('[crash] crash line 1\n');
  });

  test('a hidden tool needs --hidden', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { echo: { ...nodeServer('echo'), expose: { allow: ['add'] } } },
      },
    });
    const refused = await runCli(project, ['call', 'echo', 'echo', 'text=a']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--hidden');
    expect((await runCli(project, ['call', 'echo', 'echo', 'text=a', '--hidden'])).stdout).toBe('a\n');
  });

  test("takes a tool by its server's name or by that of the hosts, and fills in presets", async () => {
    const project = mixedProject();
    const call = async (...args: string[]) => {
      const { stdout, stderr } = await runCli(project, ['call', ...args]);
      return stdout + stderr;
    };
    expect(await call('suite', 'add', 'b=2')).toBe('3\n');
    expect(await call('suite', 'plus', 'b=2')).toBe('3\n');
    expect(await call('suite', 'plus', '--args', '{"a":100,"b":2}')).toBe('3\n');
    expect(await call('suite', 'plus', 'a=1', 'b=2')).toContain('The tool has no argument "a".');
    expect(await call('flat', 'echo', 'text=own')).toBe('own\n');
    expect(await call('flat', 'say', 'text=renamed')).toBe('renamed\n');
    expect(await call('flat', 'flat__say', 'text=whole')).toBe('whole\n');
    expect(await call('flat', 'flat__sey', 'text=x')).toContain('Did you mean "flat__say"');
    expect(await call('flat', 'big', 'bytes=1')).toContain('Add --hidden to call it anyway.');
    expect(await call('flat', 'big', 'bytes=1', '--hidden')).toHaveLength(2);
    expect(await call('hidden', 'echo', 'text=here')).toBe('here\n');
  });

  test('progress goes to stderr', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { p: nodeServer('progress') } },
    });
    const { code, stderr, stdout } = await runCli(project, ['call', 'p', 'steps', 'n=3', 'ms=1']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^progress 1\b/);
    expect(JSON.parse(stdout)).toMatchObject({ sent: 3 });
  });

  test('SIGINT cancels the call at the server, ends it, and is exit 130', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { slow: nodeServer('slow') } },
    });
    const journal = project.path('journal');
    const heard = (method: string) => readJournal(journal).some((entry) => entry.method === method);
    const { code, stdout } = await runCli(project, ['call', 'slow', 'hang'], {
      env: { TEST_SERVER_JOURNAL: journal },
      meanwhile: async (kill) => {
        await until(() => heard('tools/call'), { what: 'the call to arrive' });
        kill('SIGINT');
      },
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(heard('notifications/cancelled')).toBe(true);
  });
});
