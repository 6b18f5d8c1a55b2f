/** Scripts that call the tools of real servers, as clients send them; and clients that do not behave. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CLIENT_KINDS, connectHostile } from '../helpers/client-kinds.ts';
import { MODERN } from '../helpers/eras.ts';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { waitUntilGone } from '../helpers/processes.ts';
import { responseText, textOf, type CallOptions, type RpcMessage } from '../helpers/raw-client.ts';
import { createProject, nodeServer, npmServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CODE = { exposure: 'code' };

const runCode = ({ client }: TestGateway, code: string, options: CallOptions = {}): Promise<RpcMessage> =>
  client.call('run_code', { code }, options);

/** With the one that waits for the next script. */
const threadsOf = (pid: number): number => readdirSync(`/proc/${pid}/task`).length;
/** When the thread for the next script is there. */
async function settledThreads(pid: number): Promise<number> {
  let last = 0;
  await until(
    () => {
      const now = threadsOf(pid);
      const same = now === last;
      last = now;
      return same;
    },
    { what: 'no more threads', every: 300 },
  );
  return last;
}

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

describe('real servers', () => {
  test('one script does what would take several round trips', async () => {
    const project = createProject({
      'a.json': '{"name":"first","size":1}',
      'b.json': '{"name":"second","size":2}',
      'c.txt': 'no JSON',
    });
    const gateway = await startGateway(
      {
        files: npmServer('filesystem', project.dir),
        memory: { ...npmServer('memory'), env: { MEMORY_FILE_PATH: project.path('memory.jsonl') } },
        'every-thing': npmServer('everything'),
      },
      { config: CODE },
    );
    const tools = await gateway.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['find_tool', 'run_code']);

    const find = async (query: string) => textOf(await gateway.client.call('find_tool', { query }));
    expect(await find('search nodes')).toContain(
      'memory.search_nodes({query:string}): {entities:{name:string',
    );
    expect(await find('add two numbers')).toContain('every_thing.get_sum({a:number, b:number})');

    const { result } = await runCode(
      gateway,
      `interface File { name: string; size: number }
       const dir = ${JSON.stringify(project.dir)};
       const { content } = await files.list_directory({ path: dir });
       const names = content.split('\\n').filter((line: string) => line.endsWith('.json')).map((line: string) => line.slice(7));
       const read: File[] = await Promise.all(names.map(async (name: string) => {
         const { content } = await files.read_text_file({ path: dir + '/' + name });
         return JSON.parse(content) as File;
       }));
       await memory.create_entities({ entities: read.map(({ name, size }) => ({ name, entityType: 'file', observations: ['size ' + size] })) });
       const graph = await memory.search_nodes({ query: 'size 2' });
       const sum = await every_thing['get-sum']({ a: read[0].size, b: read[1].size });
       return { found: graph.entities.map((entity: { name: string }) => entity.name), sum };`,
    );
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"found":["second"],"sum":"The sum of 1 and 2 is 3."}' }],
    });
    expect(readFileSync(project.path('memory.jsonl'), 'utf8')).toContain('"size 1"');

    const failed = await runCode(
      gateway,
      `await memory.search_nodes({ query: 'x' });\nawait files.read_text_file({ path: '/etc/passwd' });`,
    );
    expect(failed.result.isError).toBe(true);
    expect(textOf(failed)).toMatch(/^Line 2: files\.read_text_file failed: .*Access denied/);
    expect(textOf(failed)).toContain('Calls that had succeeded: memory.search_nodes.');
  });
});

describe('calls of a script are calls like any other', () => {
  test('filters, new names and presets hold', async () => {
    const gateway = await startGateway(
      {
        echo: {
          ...nodeServer('echo'),
          exposedTools: [{ original: 'echo', exposed: 'say' }, 'pid', 'add'],
          tools: { echo: { presets: { text: 'preset' } } },
          hiddenTools: ['pid'],
        },
        other: { ...nodeServer('echo'), exposure: 'suite' },
      },
      { config: CODE },
    );
    const answer = await runCode(
      gateway,
      `const said: unknown[] = [Object.keys(echo).includes('say'), Object.keys(servers)];
       said.push(await echo.say({ text: 'mine' }));
       for (const call of [() => echo.pid({}), () => echo.echo({}), () => servers.other.echo({})])
         try { said.push(await call()) } catch (error) { said.push(String(error.message).slice(0, 40)) }
       return said`,
    );
    expect(JSON.parse(textOf(answer))).toEqual([
      true,
      ['echo'],
      expect.anything(),
      expect.stringMatching(/no tool 'pid'/),
      expect.stringMatching(/no tool 'echo'/),
      expect.stringMatching(/no server 'other'/),
    ]);
    expect(textOf(answer)).toContain('preset');
    expect(textOf(answer)).not.toContain('mine');
  });

  test('questions of a server go to the client, and its progress too', async () => {
    const gateway = await startGateway(
      { asking: nodeServer('asking'), progress: nodeServer('progress') },
      {
        config: { ...CODE, code: { timeoutMs: 20_000 } },
        version: '2025-11-25',
        capabilities: { elicitation: { form: {} } },
      },
    );
    gateway.client.handle('elicitation/create', ({ message }: { message: string }) => ({
      result: { action: 'accept', content: { answer: message.slice(0, 8) } },
    }));
    const answer = await runCode(
      gateway,
      `const tools = Object.keys(progress);
       const said = await asking.ask_form({ tag: '1' });
       return [said.result.content.answer, tools.length > 0]`,
      { progressToken: 'mine' },
    );
    expect(textOf(answer)).toBe('["asking:1",true]');
    const steps = gateway.client.notifications.filter(({ method }) => method === 'notifications/progress');
    expect(steps[0]?.params).toMatchObject({ progressToken: 'mine', message: 'Running asking.ask_form' });
  });

  test('cancelling the script cancels what it waits for, and its thread is gone', async () => {
    const gateway = await startGateway({ slow: nodeServer('slow') }, { config: CODE });
    const pid = gateway.client.pid as number;
    await runCode(gateway, 'await slow.echo({ text: "warm" })');
    const before = await settledThreads(pid);
    const id = 'the-script';
    const answered = runCode(gateway, 'await Promise.all([1, 2, 3].map(() => slow.hang({})))', {
      id,
      deadline: 60_000,
    });
    answered.catch(() => undefined);
    await until(async () => textOf(await runCode(gateway, 'await slow.running_count({})')) === '3', {
      what: 'three calls',
    });
    gateway.client.notify('notifications/cancelled', { requestId: id });
    await until(async () => textOf(await runCode(gateway, 'await slow.cancelled_count({})')) === '3', {
      what: 'three cancellations',
    });
    await until(() => threadsOf(pid) <= before, { what: 'the threads to end' });
    // One that computes, too.
    const busy = runCode(gateway, 'await slow.echo({ text: "x" });\nfor (;;);', {
      id: 'busy',
      progressToken: 'busy',
      deadline: 60_000,
    });
    busy.catch(() => undefined);
    await gateway.client.waitFor(({ params }) => params?.progressToken === 'busy');
    expect((await gateway.client.request('ping')).result).toEqual({});
    gateway.client.notify('notifications/cancelled', { requestId: 'busy' });
    await until(() => threadsOf(pid) <= before, { what: 'the thread to end' });
  });

  test('the gateway ends with its scripts', async () => {
    const gateway = await startGateway({ slow: nodeServer('slow') }, { config: CODE });
    const { client } = gateway;
    for (const code of [
      'for (;;);',
      'await slow.hang({})',
      'await new Promise((done) => setTimeout(done, 1e6))',
    ])
      runCode(gateway, code, { deadline: 60_000 }).catch(() => undefined);
    await until(async () => textOf(await runCode(gateway, 'await slow.running_count({})')) === '1', {
      what: 'the call',
    });
    expect((await client.close()).code).toBe(0);
    await waitUntilGone(client.marker);
  });
});

/** The oldest and the newest clients over each transport. */
const KINDS = CLIENT_KINDS.filter(({ version }) => version === MODERN || version === '2024-11-05');

test.each(KINDS)('a client of $version over $transport runs scripts', async (kind) => {
  const client = await connectHostile(kind, { echo: nodeServer('echo') }, { config: CODE });
  const answer = await client.call('run_code', {
    code: 'const said = await echo.echo({ text: "hi" });\nreturn [said, 1]',
  });
  expect(textOf(answer)).toMatch(/^\[.*hi.*,1\]$/);
  for (const args of [{}, { code: 5 }, { code: ' ' }, { code: ['1'] }])
    expect(responseText(await client.call('run_code', args))).toMatch(/run_code needs code/);
  expect(client.problems()).toEqual([]);
});

test('two clients at one time run scripts that know nothing of each other', async () => {
  const gateway = await startHttpGateway({ canary: nodeServer('canary') }, { config: CODE });
  const clients = await Promise.all([1, 2, 3].map(() => HttpSession.open(gateway)));
  const answers = await Promise.all(
    clients.map((client, n) =>
      client.call('run_code', {
        code: `const seen = typeof globalThis.secret; globalThis.secret = ${n}; Object.prototype.leaked = ${n};
               await canary.remember({ value: 'of ${n}' });
               const { value } = await canary.tell({ value: 'told ${n}', ms: 100 });
               return [seen, secret, value, (await canary.recall({})).value]`,
      }),
    ),
  );
  expect(answers.map((answer) => JSON.parse(textOf(answer)) as unknown)).toEqual(
    clients.map((_client, n) => ['undefined', n, `told ${n}`, `of ${n}`]),
  );
});

test('many scripts at one time, good and bad, leave a gateway as it was', async () => {
  const gateway = await startGateway(
    { echo: nodeServer('echo') },
    { config: { ...CODE, code: { cpuMs: 300, memoryMb: 32, maxCalls: 100 } } },
  );
  const pid = gateway.client.pid as number;
  const scripts = [
    'return (await Promise.all(Array.from({ length: 50 }, () => echo.echo({ text: "x" })))).length',
    'for (;;);',
    'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))',
    'await new Promise(() => 0)',
    'for (let n = 0; n < 200; n++) await echo.echo({ text: "x" })',
  ];
  const round = async (): Promise<string[]> =>
    (await Promise.all(scripts.map((code) => runCode(gateway, code, { deadline: 50_000 })))).map(textOf);
  const expected = [
    /^50$/,
    /computed for more than 300 ms|made 100 calls/,
    /more than 32 MiB of memory|computed for/,
    /nothing will settle/,
    /made 100 calls, which is the limit|computed for/,
  ];
  const texts = await round();
  expected.forEach((pattern, at) => expect(texts[at]).toMatch(pattern));
  const threads = await settledThreads(pid);
  const memory = residentMb(pid);
  for (let count = 0; count < 3; count++) await round();
  await until(() => threadsOf(pid) <= threads, { what: 'the threads to end' });
  expect(residentMb(pid) - memory).toBeLessThan(150);
});
