/**
 * Servers that run elsewhere, over both transports: what comes of them is what comes of the same server as a program,
 * byte by byte, whether the host is on stdin or connects; and everything that is done with servers can be done with them.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { officialClients } from '../helpers/http-official-clients.ts';
import { alive, marker, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { freePort, remoteEntry, startRemote, type RemoteServer } from '../helpers/remote-server.ts';
import { createProject, nodeServer, npmServer, ROOT, type Project } from '../helpers/temp-project.ts';
import { record, type Heard, type Traffic, type Transcript } from '../helpers/traffic.ts';
import { until } from '../helpers/until.ts';
import { startOddHttp, type OddHttp, type OddHttpSettings } from '../servers/odd-http.mjs';
import { everything } from './traffic/everything.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The same traffic, without what the server says of its session: over stdio it has none. */
const traffic: Traffic = {
  ...everything,
  blurs: [
    {
      name: 'session',
      why: 'a session has a random id, and over stdio none',
      find: new RegExp(`for session (?:undefined|${UUID})`, 'g'),
      as: () => 'for session <session>',
    },
    {
      name: 'session of a subscription',
      why: 'the same',
      find: new RegExp(`ubscribe Resource request[^"]* (?:from session ${UUID})?(?=")`, 'g'),
      as: (found) => found.replace(/ (?:from session \S+)?$/, ' <session>'),
    },
    {
      name: 'session of a log message',
      why: 'the same',
      find: new RegExp(`(?<=[- ]level[- ]message) - SessionId ${UUID}(?=")`, 'g'),
      as: () => '',
    },
    ...everything.blurs,
  ],
  steps: [
    everything.steps[0]!,
    // A call waits for its server, while a list does not wait for long.
    {
      title: 'its tools are there',
      method: 'tools/call',
      params: { name: 'echo', arguments: { message: '' } },
    },
    ...everything.steps.slice(1),
  ],
};

const DEBUG = { SWITCHBOARD_LOG_LEVEL: 'debug' };

let streamable: RemoteServer;
let sse: RemoteServer;

beforeAll(async () => {
  [streamable, sse] = await Promise.all([startRemote('streamableHttp'), startRemote('sse')]);
});

afterAll(async () => {
  await Promise.all([streamable.close(), sse.close()]);
});

async function odd(options: Partial<OddHttpSettings> = {}): Promise<OddHttp> {
  const server = await startOddHttp(options);
  atTestEnd(() => server.stop().catch(() => undefined));
  return server;
}

describe('all that everything can do, as over stdio', () => {
  const ways: Record<string, () => any> = {
    stdio: () => npmServer('everything'),
    http: () => remoteEntry(streamable.url, { type: 'http' }),
    sse: () => remoteEntry(sse.url, { type: 'sse' }),
    'auto, which finds http': () => remoteEntry(others[0]!.url),
    'auto, which finds sse': () => remoteEntry(others[1]!.url, { type: 'auto' }),
  };
  // Sessions of one process of this server get into each other's way.
  let others: RemoteServer[] = [];
  const open: { client: RawClient; project: Project }[] = [];
  const runs = new Map<string, PromiseSettledResult<Transcript>>();

  beforeAll(async () => {
    others = await Promise.all([startRemote('streamableHttp'), startRemote('sse')]);
    const names = Object.keys(ways);
    const settled = await Promise.allSettled(names.map((name) => run(ways[name]!())));
    for (const [index, name] of names.entries()) runs.set(name, settled[index]!);
  }, 120_000);

  afterAll(async () => {
    for (const other of others) await other.close();
    for (const { client, project } of open) {
      await client.dispose();
      await project.remove();
    }
  });

  async function run(server: object): Promise<Transcript> {
    const project = createProject({
      'switchboard.config.json': {
        exposure: 'flat',
        naming: 'plain',
        mcpServers: { everything: server },
      },
    });
    const client = startClient({ cwd: project.dir, env: ownState(project), deadline: 30_000 });
    open.push({ client, project });
    return record(client, traffic, project.dir);
  }

  function transcriptOf(name: string): Transcript {
    const run = runs.get(name)!;
    if (run.status === 'rejected') throw run.reason;
    return run.value;
  }

  const show = (heard: readonly Heard[] = []): string =>
    heard.map(({ kind, text }) => `${kind}: ${text}`).join('\n');
  const byName = (all: ReadonlyMap<string, readonly Heard[]>): Record<string, string> =>
    Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, show(one)]));
  /** Our own word that a list has changed is sent once for however many changes. */
  const notices = ({ notifications }: Transcript): Record<string, string> =>
    byName(new Map([...notifications].filter(([method]) => !method.endsWith('/list_changed'))));

  test.each(Object.keys(ways))('%s: everything is answered', (name) => {
    for (const [title, heard] of transcriptOf(name).steps)
      expect(show(heard), title).not.toMatch(/^answer: (?:not tried|Error: )/m);
    for (const { client } of open) client.check();
  });

  test.each(Object.keys(ways).slice(1))('%s: the same texts as over stdio', (name) => {
    expect(byName(transcriptOf(name).steps)).toEqual(byName(transcriptOf('stdio').steps));
  });

  test.each(Object.keys(ways).slice(1))('%s: the same notifications as over stdio', (name) => {
    expect(notices(transcriptOf(name))).toEqual(notices(transcriptOf('stdio')));
    expect(show(transcriptOf(name).late)).toBe(show(transcriptOf('stdio').late));
  });
});

const ANSWERS: Readonly<Record<string, object>> = {
  'elicitation/create': { action: 'accept', content: { name: 'Ada', check: true } },
  'sampling/createMessage': {
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'sampled here' },
  },
  'roots/list': { roots: [{ uri: 'file:///over/http', name: 'Over HTTP' }] },
};

describe.each(Object.entries(officialClients))('%s, connected to a gateway', (_name, connect) => {
  test('uses servers of both transports as if they were here', async () => {
    const gateway = await startHttpGateway(
      {
        far: remoteEntry(streamable.url),
        old: remoteEntry(sse.url, { type: 'sse', exposure: 'suite', offer: ['tools'] }),
      },
      { config: { exposure: 'flat', naming: 'prefixed' } },
    );
    const official = await connect(gateway, { answer: ({ method }) => ANSWERS[method]! });
    const { client, heard } = official;
    const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
    const call = async (name: string, args: object = {}): Promise<string> =>
      (await official.call(name, args)).content.map(({ text }: { text: string }) => text).join('\n');
    const callOld = (subtool: string, args: object = {}): Promise<string> =>
      call('old_suite', { action: 'call', subtool, args });
    const hears = (method: string): Promise<boolean> =>
      until(() => heard.some((one) => one.method === method), { what: method, deadline: 20_000 });

    await until(async () => (await names()).includes('far__trigger-sampling-request'), {
      what: 'the tools that a server has only for a client that can do this',
      deadline: 20_000,
    });
    expect(await names()).toContain('old_suite');
    expect(await call('far__echo', { message: 'Tschüß' })).toBe('Echo: Tschüß');
    expect(await callOld('echo', { message: 'Tschüß' })).toBe('Echo: Tschüß');
    let reports = 0;
    const onprogress = (): void => {
      reports++;
    };
    await official.call('far__trigger-long-running-operation', { duration: 0.4, steps: 4 }, { onprogress });
    expect(reports).toBeGreaterThanOrEqual(3);
    const stop = new AbortController();
    const long = official.call(
      'far__trigger-long-running-operation',
      { duration: 600, steps: 6000 },
      { signal: stop.signal, onprogress: () => stop.abort('enough') },
    );
    await expect(long).rejects.toThrow();

    expect(await call('far__trigger-elicitation-request')).toContain('Ada');
    expect(await call('far__trigger-sampling-request', { prompt: 'x' })).toContain('sampled here');
    expect(await call('far__get-roots-list')).toContain('file:///over/http');
    expect(await callOld('get-roots-list')).toContain('file:///over/http');
    const links = await official.call('far__get-resource-links', { count: 3 });
    expect(links.content.filter(({ type }: { type: string }) => type === 'resource_link')).toHaveLength(3);

    const uri = 'demo://resource/static/document/features.md';
    expect(JSON.stringify(await client.readResource({ uri })).length).toBeGreaterThan(100);
    await client.subscribeResource({ uri });
    await call('far__toggle-subscriber-updates');
    await hears('notifications/resources/updated');
    await call('far__toggle-subscriber-updates');
    const prompt = await client.getPrompt({ name: 'far__args-prompt', arguments: { city: 'Köln' } });
    expect(JSON.stringify(prompt.messages)).toContain('Köln');
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'far__completable-prompt' },
      argument: { name: 'department', value: 'S' },
    });
    expect(completion.values).toContain('Sales');
    await client.setLoggingLevel('debug');
    heard.length = 0;
    await call('far__toggle-simulated-logging');
    await hears('notifications/message');
    await call('far__toggle-simulated-logging');
    await official.leave();
    expect((await gateway.stop()).code).toBe(0);
  });
});

describe('bytes', () => {
  const raw = String.raw;
  const RESULTS: Record<string, string> = {
    numbers: '{"content":[],"structuredContent":{"a":12345678901234567890,"b":1.0,"c":-0,"d":1E+2,"e":0.10}}',
    'members nobody knows':
      '{"content":[{"type":"hologram","depth":3.0}],"future":[null],"":{},"_meta":{"x/y":1.50}}',
    escapes: raw`{"content":[{"type":"text","text":"\u0061\/b \ud83d\ude00 \u2028 \ud800"}]}`,
    'plain unicode': '{"content":[{"type":"text","text":"Tschüß 😀 \u2028 \u00a0"}]}',
    spaces: '{ "content" : [ ] ,\t"structuredContent" : { "a" :  [ 1 , 2 ] } }',
    'ids in it': '{"content":[],"id":7,"jsonrpc":"3.0","result":{"id":"x"},"error":{"code":1.0}}',
  };

  test.each(['json', 'events'])('what a server answers as %s comes out unchanged', async (how) => {
    const server = await odd();
    const { client } = await startGateway(
      { odd: remoteEntry(server.url, { type: 'http' }) },
      { config: { exposure: 'flat', naming: 'plain' } },
    );
    await until(async () => (await client.listTools()).length > 1, { what: 'its tools' });
    for (const [what, result] of Object.entries(RESULTS)) {
      const answer = await client.call('bytes', { result, how }, { id: `the id of ${what}` });
      expect(client.wireText(answer), what).toBe(
        `{"jsonrpc":"2.0","x-before":1.0,"id":"the id of ${what}","result":${result}}`,
      );
    }
  });

  test.each(['json', 'spread'])('line ends in %s become spaces, and nothing else changes', async (how) => {
    const server = await odd();
    const { client } = await startGateway(
      { odd: remoteEntry(server.url, { type: 'http' }) },
      { config: { exposure: 'flat', naming: 'plain' } },
    );
    await until(async () => (await client.listTools()).length > 1, { what: 'its tools' });
    const result = '{\n  "content": [],\n  "n": 1.0\n}';
    const answer = await client.call('bytes', { result, how }, { id: 'x' });
    expect(client.wireText(answer)).toBe(
      `{"jsonrpc":"2.0","x-before":1.0,"id":"x","result":${result.replaceAll('\n', ' ')}}`,
    );
  });

  test('what a client says arrives unchanged', async () => {
    const server = await odd();
    const { client } = await startGateway(
      { odd: remoteEntry(server.url, { type: 'http' }) },
      { config: { exposure: 'flat', naming: 'plain' } },
    );
    await until(async () => (await client.listTools()).length > 1, { what: 'its tools' });
    const params = raw`{"x":1.0,"arguments":{"tag":"sent","big":12345678901234567890,"t":"\u0061\/ü","z":-0},"_meta":{"a":1.50},"name":"ok"}`;
    const answer = client.answerTo('a');
    client.sendRaw(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":${params}}\n`);
    await answer;
    const { body, headers } = server.requests.find((one) => one.body.includes('"sent"'))!;
    expect(body.replace(/"id":\d+/, '"id":"a"')).toBe(
      `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":${params}}`,
    );
    expect(headers['content-type']).toBe('application/json');
    expect(headers.accept).toMatch(/application\/json.*text\/event-stream/);
    expect(headers['mcp-session-id']).toMatch(/./);
    expect(headers['mcp-protocol-version']).toMatch(/^20\d\d-\d\d-\d\d$/);
  });

  test('ten megabytes each way', async () => {
    const server = await odd();
    const { client } = await startGateway(
      { odd: remoteEntry(server.url, { type: 'http' }) },
      { config: { exposure: 'flat', naming: 'plain' } },
    );
    await until(async () => (await client.listTools()).length > 1, { what: 'its tools' });
    const bytes = 160 * 65_536;
    for (const tool of ['huge', 'huge_chunked', 'huge_events']) {
      const text = textOf(await client.call(tool, { bytes }));
      expect(text.length).toBe(bytes);
    }
    const text = 'y'.repeat(10_000_000);
    expect(textOf(await client.call('ok', { tag: 'much', text }))).toBe('ran much');
    expect(server.requests.find(({ body }) => body.length > 10_000_000)?.body).toContain(text);
  });
});

describe('headers and addresses', () => {
  const SECRET = 'value-of-the-variable-5353';

  test('headers with ${NAME} arrive with every request, and are told to nobody', async () => {
    const server = await odd({ listening: 'open' });
    const { client, call, project } = await startGateway(
      {
        odd: remoteEntry(`${server.origin}/mcp?key=\${MY_KEY}`, {
          type: 'http',
          headers: { Authorization: 'Bearer ${MY_KEY}', 'X-Plain': 'a ${MISSING:-fallback} b' },
        }),
        unset: remoteEntry(server.url, { headers: { 'X-Other': '${NOT_SET_ANYWHERE}' } }),
      },
      { env: { ...DEBUG, MY_KEY: SECRET }, config: { logArguments: true } },
    );
    expect(textOf(await call('odd', 'ok', { tag: 'a' }))).toBe('ran a');
    await until(() => server.listeners() === 1, { what: 'the stream' });
    // What goes wrong is told without them too.
    for (const body of ['you sent $authorization', '{"echo":"$authorization"}']) {
      const { result } = await call('odd', 'status', { status: 500, type: 'text/plain', body });
      expect(result.content[0].text).toContain('HTTP 500');
      expect(result.content[0].text).not.toContain(SECRET);
    }
    await client.waitForStderr(/NOT_SET_ANYWHERE/);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['odd_suite', 'unset_suite']);
    expect((await client.close()).code).toBe(0);
    expect(client.stderr).not.toContain(SECRET);
    await until(() => server.requests.some(({ method }) => method === 'DELETE'), { what: 'our farewell' });
    expect(server.sessions()).toBe(0);
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['POST', 'GET', 'DELETE']));
    for (const { path, headers } of server.requests) {
      expect(path).toBe(`/mcp?key=${SECRET}`);
      expect(headers.authorization).toBe(`Bearer ${SECRET}`);
      expect(headers['x-plain']).toBe('a fallback b');
    }
    for (const args of [
      ['list'],
      ['list', '--json'],
      ['doctor'],
      ['doctor', '--json'],
      ['doctor', '--start'],
      ['--dry-run'],
      ['tools', 'odd'],
    ]) {
      const { stdout, stderr } = await switchboard(project, args, { ...DEBUG, MY_KEY: SECRET });
      expect(stdout.length, args.join(' ')).toBeGreaterThan(10);
      expect(stdout + stderr, args.join(' ')).not.toContain(SECRET);
    }
  });

  test('a user name and a password in the address are sent as such, and shown nowhere', async () => {
    const server = await odd();
    const url = server.url.replace('://', `://me:${SECRET}@`);
    const { client, call, project } = await startGateway({ odd: remoteEntry(url) }, { env: DEBUG });
    expect(textOf(await call('odd', 'ok', { tag: 'a' }))).toBe('ran a');
    expect((await client.close()).code).toBe(0);
    const basic = `Basic ${Buffer.from(`me:${SECRET}`).toString('base64')}`;
    expect(server.requests.every(({ headers }) => headers.authorization === basic)).toBe(true);
    await server.stop();
    const refused = await switchboard(project, ['call', 'odd', 'ok'], DEBUG);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('connection refused');
    for (const { stdout, stderr } of [refused, await switchboard(project, ['list'], DEBUG)])
      expect(stdout + stderr).not.toContain(SECRET);
    expect(client.stderr).not.toContain(SECRET);
  });

  test('an address on IPv6 works', async (context) => {
    const { createServer } = await import('node:http');
    const server = await odd();
    const bridge = createServer((request, response) => {
      void fetch(server.url, {
        method: 'POST',
        headers: request.headers as Record<string, string>,
        body: request as any,
        duplex: 'half',
      } as any).then(
        async (answer) => {
          response.writeHead(answer.status, {
            'content-type': 'application/json',
            'mcp-session-id': answer.headers.get('mcp-session-id') ?? '',
          });
          response.end(await answer.text());
        },
        () => response.destroy(),
      );
    });
    const listening = await new Promise<boolean>((resolve) => {
      bridge.once('error', () => resolve(false));
      bridge.listen(0, '::1', () => resolve(true));
    });
    if (!listening) context.skip('no IPv6 on this machine');
    atTestEnd(async () => {
      bridge.closeAllConnections();
      await new Promise((resolve) => bridge.close(resolve));
    });
    const { port } = bridge.address() as { port: number };
    const { call } = await startGateway({ odd: remoteEntry(`http://[::1]:${port}/mcp`, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'six' }))).toBe('ran six');
  });
});

describe('commands', () => {
  test('list, tools, call, doctor and a dry run of a remote server', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { far: remoteEntry(streamable.url), old: remoteEntry(sse.url, { type: 'sse' }) },
      },
    });
    const list = await switchboard(project, ['list', '--json']);
    expect(list.code).toBe(0);
    expect(list.stdout).toContain(streamable.url);
    expect((await switchboard(project, ['list'])).stdout).toMatch(
      new RegExp(`far +far_suite .*${streamable.url}`),
    );
    for (const name of ['far', 'old']) {
      const tools = await switchboard(project, ['tools', name]);
      expect(tools.code).toBe(0);
      expect(tools.stdout).toMatch(/^ *echo \{message:string\}/m);
      const called = await switchboard(project, ['call', name, 'get-sum', 'a=2', 'b=3']);
      expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('The sum of 2 and 3 is 5.') });
    }
    const doctor = await switchboard(project, ['doctor', '--start']);
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toContain(streamable.url);
    const dry = await switchboard(project, ['--dry-run']);
    expect(dry.code).toBe(0);
    expect(dry.stdout).toMatch(/far_suite +\d+ subtools/);
    expect(dry.stdout).toMatch(/old_suite +\d+ subtools/);
  });

  test('add --url writes an entry that works at once, and keeps references as written', async () => {
    const server = await odd();
    const project = createProject({ 'switchboard.config.json': { mcpServers: {} } });
    const client = startClient({ cwd: project.dir, env: { ...ownState(project), MY_KEY: 'k-5353' } });
    await client.initialize();
    await until(() => existsSync(project.path('.state/run', `${client.pid}.json`)), {
      what: 'the gateway to be found by others',
    });
    const added = await switchboard(
      project,
      ['add', 'odd', '--url', server.url, '--transport', 'http', '--header', 'X-Key: ${MY_KEY}', '--start'],
      { MY_KEY: 'k-5353' },
    );
    expect(added).toMatchObject({ code: 0, stderr: expect.not.stringContaining('k-5353') });
    const { mcpServers } = JSON.parse(project.read('switchboard.config.json'));
    expect(mcpServers.odd).toEqual({ type: 'http', url: server.url, headers: { 'X-Key': '${MY_KEY}' } });
    await until(async () => (await client.listTools()).some(({ name }) => name === 'odd_suite'), {
      what: 'the running gateway to have it',
    });
    const answer = await client.call('odd_suite', { action: 'call', subtool: 'ok', args: { tag: 'added' } });
    expect(textOf(answer)).toBe('ran added');
    expect(server.requests.at(-1)?.headers['x-key']).toBe('k-5353');
    expect((await switchboard(project, ['remove', 'odd'])).code).toBe(0);
    await until(async () => !(await client.listTools()).some(({ name }) => name === 'odd_suite'), {
      what: 'it to be gone',
    });
    await until(() => server.sessions() === 0, { what: 'the session to be ended' });
  });

  test('a server that is not there: the exit code and the sentence say so', async () => {
    const server = await odd();
    await server.stop();
    const project = createProject({
      'switchboard.config.json': { mcpServers: { far: remoteEntry(server.url) } },
    });
    const called = await switchboard(project, ['call', 'far', 'ok']);
    expect(called.code).toBe(3);
    expect(called.stderr).toMatch(/'far' cannot be reached at http:.*connection refused/);
    const doctor = await switchboard(project, ['doctor', '--start']);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout + doctor.stderr).toMatch(/cannot be reached at http:.*connection refused/);
    expect((await switchboard(project, ['list'])).code).toBe(0);
  });
});

test("a remote server and a program side by side: one's trouble does not touch the other", async () => {
  const server = await odd();
  const { client, call } = await startGateway({
    far: remoteEntry(server.url, { type: 'http' }),
    near: nodeServer('echo'),
  });
  const pid = Number(textOf(await call('near', 'pid')));
  const held = [1, 2, 3].map((n) => call('far', 'held', { tag: `h${n}` }));
  await until(() => server.waiting() === 3, { what: 'three to wait' });
  expect(textOf(await call('near', 'echo', { text: 'meanwhile' }))).toBe('meanwhile');
  process.kill(pid, 'SIGKILL');
  await until(() => !alive(pid), { what: 'the program to be gone' });
  expect(textOf(await call('far', 'ok', { tag: 'fine' }))).toBe('ran fine');
  server.release();
  expect((await Promise.all(held)).map(textOf)).toEqual(['ran h1', 'ran h2', 'ran h3']);
  await server.stop();
  // The first may still have been written to the one that was killed.
  const again = await until(async () => Number(textOf(await call('near', 'pid'))), {
    what: 'the program to be back',
  });
  expect((await call('far', 'ok', { tag: 'gone' })).result.isError).toBe(true);
  expect(textOf(await call('near', 'pid'))).toBe(String(again));
  expect((await client.close()).code).toBe(0);
  expect(alive(again)).toBe(false);
});

describe('the life of a connection', () => {
  test('two hundred calls at once: each gets its own answer, and each is carried out once', async () => {
    const server = await odd();
    const { call } = await startGateway({ far: remoteEntry(server.url, { type: 'http' }) });
    const tags = Array.from({ length: 200 }, (_, n) => `many-${n}`);
    const answers = await Promise.all(
      tags.map((tag, n) => call('far', n % 2 === 0 ? 'ok' : 'ok_events', { tag })),
    );
    expect(answers.map(textOf)).toEqual(tags.map((tag) => `ran ${tag}`));
    expect(tags.every((tag) => server.ran(tag) === 1)).toBe(true);
    expect(server.sessions()).toBe(1);
  });

  test('an unused server is taken leave of, and greeted again when it is needed', async () => {
    const server = await odd({ listening: 'open' });
    const { call } = await startGateway(
      { far: remoteEntry(server.url, { type: 'http' }) },
      { config: { timeouts: { idleMs: 300 } } },
    );
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    await until(() => server.sessions() === 0 && server.listeners() === 0, { what: 'our leave' });
    expect(textOf(await call('far', 'ok', { tag: 'b' }))).toBe('ran b');
    expect(server.sessions()).toBe(1);
  });

  test('a server without sessions is used without, also after a restart', async () => {
    const server = await odd({ sessions: false, port: await freePort() });
    const { client, call } = await startGateway({ far: remoteEntry(server.url) });
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    await server.stop();
    await server.start();
    let answer = await call('far', 'ok', { tag: 'b' });
    // It may have been written to a connection that was just closing; then it is not sent again.
    if (answer.result?.isError === true) answer = await call('far', 'ok', { tag: 'b' });
    expect(textOf(answer)).toBe('ran b');
    expect((await client.close()).code).toBe(0);
    expect(server.requests.some(({ method }) => method === 'DELETE')).toBe(false);
    expect(server.requests.some(({ headers }) => headers['mcp-session-id'] !== undefined)).toBe(false);
  });

  test('a changed entry is used from the next call on, and the old session is ended', async () => {
    const server = await odd();
    const entry = (key: string): object => ({
      mcpServers: { far: remoteEntry(server.url, { type: 'http', headers: { 'X-Key': key } }) },
    });
    const { client, call, project } = await startGateway({}, { config: entry('first') });
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    project.write('switchboard.config.json', entry('second'));
    client.signal('SIGHUP');
    await client.waitForStderr(/the configuration was read again/);
    expect(textOf(await call('far', 'ok', { tag: 'b' }))).toBe('ran b');
    const key = (tag: string): unknown =>
      server.requests.find(({ body }) => body.includes(`"${tag}"`))?.headers['x-key'];
    expect([key('a'), key('b')]).toEqual(['first', 'second']);
    await until(() => server.sessions() === 1, { what: 'the old session to be ended' });
  });

  test('one that does not take leave of us holds up no exit', async () => {
    const server = await odd({
      listening: 'open',
      before: ({ method }) => method === 'DELETE',
    });
    const { client, call } = await startGateway({ far: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    const { code, ms } = await client.close();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(8000);
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  test('calls in flight at the end of input are answered before it leaves', async () => {
    const server = await odd();
    const { client, call } = await startGateway({ far: remoteEntry(server.url, { type: 'http' }) });
    const held = ['a', 'b', 'c'].map((tag) => call('far', 'held', { tag }));
    await until(() => server.waiting() === 3, { what: 'three to wait' });
    const closing = client.close();
    server.release();
    expect((await Promise.all(held)).map(textOf)).toEqual(['ran a', 'ran b', 'ran c']);
    expect((await closing).code).toBe(0);
    expect(server.sessions()).toBe(0);
  });
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the built program to its end; nothing of it is left then. */
async function switchboard(
  project: Project,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const mark = marker();
  const ran = await new Promise<Ran>((resolve) => {
    const options = {
      cwd: project.dir,
      timeout: 30_000,
      env: { ...process.env, ...ownState(project), NO_COLOR: '1', ...env, ...mark.env },
    };
    const child = execFile(
      process.execPath,
      [join(ROOT, 'dist/index.js'), ...args],
      options,
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    child.stdin?.end();
  });
  await waitUntilGone(mark);
  return ran;
}
