/**
 * Servers that run elsewhere, over both transports: what comes of them is what comes of the same server as a program,
 * byte by byte, whether the host is on stdin or connects; and everything that is done with servers can be done with them.
 */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { officialClients } from '../helpers/http-official-clients.ts';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { startOddServer, remoteEntry, startRemote, type RemoteServer } from '../helpers/remote-server.ts';
import { runProgram } from '../helpers/run-program.ts';
import { createProject, npmServer, type Project } from '../helpers/temp-project.ts';
import { record, type Heard, type Traffic, type Transcript } from '../helpers/traffic.ts';
import { until } from '../helpers/until.ts';
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

let streamable: RemoteServer;
let sse: RemoteServer;

beforeAll(async () => {
  [streamable, sse] = await Promise.all([startRemote('streamableHttp'), startRemote('sse')]);
});

afterAll(async () => {
  await Promise.all([streamable.close(), sse.close()]);
});

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
    const server = await startOddServer();
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
    const server = await startOddServer();
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
    const server = await startOddServer();
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
    const server = await startOddServer();
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

describe('commands', () => {
  test('list, tools, call, doctor and a dry run of a remote server', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { far: remoteEntry(streamable.url), old: remoteEntry(sse.url, { type: 'sse' }) },
      },
    });
    const list = await runProgram(project, ['list', '--json']);
    expect(list.code).toBe(0);
    expect(list.stdout).toContain(streamable.url);
    expect((await runProgram(project, ['list'])).stdout).toMatch(
      new RegExp(`far +far_suite .*${streamable.url}`),
    );
    for (const name of ['far', 'old']) {
      const tools = await runProgram(project, ['tools', name]);
      expect(tools.code).toBe(0);
      expect(tools.stdout).toMatch(/^ *echo \{message:string\}/m);
      const called = await runProgram(project, ['call', name, 'get-sum', 'a=2', 'b=3']);
      expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('The sum of 2 and 3 is 5.') });
    }
    const doctor = await runProgram(project, ['doctor', '--start']);
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toContain(streamable.url);
    const dry = await runProgram(project, ['--dry-run']);
    expect(dry.code).toBe(0);
    expect(dry.stdout).toMatch(/far_suite +\d+ subtools/);
    expect(dry.stdout).toMatch(/old_suite +\d+ subtools/);
  });

  test('add --url writes an entry that works at once, and keeps references as written', async () => {
    const server = await startOddServer();
    const project = createProject({ 'switchboard.config.json': { mcpServers: {} } });
    const client = startClient({ cwd: project.dir, env: { ...ownState(project), MY_KEY: 'k-5353' } });
    await client.initialize();
    await until(() => existsSync(project.path('.state/run', `${client.pid}.json`)), {
      what: 'the gateway to be found by others',
    });
    const added = await runProgram(
      project,
      ['add', 'odd', '--url', server.url, '--transport', 'http', '--header', 'X-Key: ${MY_KEY}', '--start'],
      { env: { MY_KEY: 'k-5353' } },
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
    expect((await runProgram(project, ['remove', 'odd'])).code).toBe(0);
    await until(async () => !(await client.listTools()).some(({ name }) => name === 'odd_suite'), {
      what: 'it to be gone',
    });
    await until(() => server.sessions() === 0, { what: 'the session to be ended' });
  });

  test('a server that is not there: the exit code and the sentence say so', async () => {
    const server = await startOddServer();
    await server.stop();
    const project = createProject({
      'switchboard.config.json': { mcpServers: { far: remoteEntry(server.url) } },
    });
    const called = await runProgram(project, ['call', 'far', 'ok']);
    expect(called.code).toBe(3);
    expect(called.stderr).toMatch(/'far' cannot be reached at http:.*connection refused/);
    const doctor = await runProgram(project, ['doctor', '--start']);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout + doctor.stderr).toMatch(/cannot be reached at http:.*connection refused/);
    expect((await runProgram(project, ['list'])).code).toBe(0);
  });
});
