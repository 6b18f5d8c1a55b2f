/**
 * The program mcpmux: servers that a client adds, reloads, removes and lists while it works, as its specification
 * describes them.
 */
import { chmodSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import {
  failed,
  MANAGEMENT_TOOLS,
  MUX,
  SERVER_WITHOUT_TOOLS,
  startMux,
  type ListedServer,
} from '../helpers/management.ts';
import { swappable } from '../helpers/mcpmux.ts';
import { alive, processesWith } from '../helpers/processes.ts';
import { responseText, textOf, type Json } from '../helpers/raw-client.ts';
import { sdkClients } from '../helpers/sdk-client.ts';
import { createProject, nodeServer, serverPath, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

/** What a call came to, whichever client made it. */
interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Json;
}

/** A client of any make. */
interface Host {
  readonly project: Project;
  tools(): Promise<string[]>;
  call(name: string, args?: object): Promise<Answer>;
  /** How often it was told that the tools have changed. */
  changes(): number;
  /** Ends the program; it must leave nothing behind. */
  leave(): Promise<void>;
}

const hosts: Record<string, () => Promise<Host>> = {
  'the raw client': async () => {
    const mux = await startMux();
    return {
      project: mux.project,
      tools: () => mux.tools(),
      call: async (name, args) => {
        const response = await mux.client.call(name, args);
        return {
          text: responseText(response),
          isError: failed(response),
          structured: response.result?.structuredContent,
        };
      },
      changes: () => mux.changes(),
      leave: async () => {
        expect((await mux.client.close()).code).toBe(0);
        expect(processesWith(mux.client.marker)).toEqual([]);
      },
    };
  },
  ...Object.fromEntries(
    Object.entries(sdkClients).map(([name, start]) => [
      name,
      async (): Promise<Host> => {
        const project = createProject();
        const client = await start({ cwd: project.dir, server: MUX, answer: () => ({}) });
        return {
          project,
          tools: () => client.listTools(),
          call: async (tool, args) => {
            try {
              const { content, isError, structuredContent } = await client.result(tool, args);
              return { text: content[0].text, isError: isError === true, structured: structuredContent };
            } catch (error) {
              return { text: (error as Error).message, isError: true, structured: undefined };
            }
          },
          changes: () => client.toolChanges(),
          leave: () => client.close(),
        };
      },
    ]),
  ),
};

describe.each(Object.entries(hosts))('with %s', (_name, start) => {
  const told = async (host: Host, times: number): Promise<void> => {
    await until(() => host.changes() >= times, { what: `${times} changes of the tools`, every: 5 });
  };
  const listed = async (host: Host, name: string): Promise<ListedServer | undefined> =>
    (await host.call('list_servers')).structured.servers.find((each: ListedServer) => each.name === name);

  test('a server is added, its tools are listed and called, and it is removed', async () => {
    const host = await start();
    expect(await host.tools()).toEqual(MANAGEMENT_TOOLS);
    const added = await host.call('add_server', { name: 'echo', ...nodeServer('echo') });
    expect(added).toMatchObject({ isError: false, structured: { server: { status: 'running' } } });
    await told(host, 1);
    const own = (await host.tools()).filter((name) => !MANAGEMENT_TOOLS.includes(name));
    expect(own).toEqual(added.structured.server.tools);
    expect(own).toContain('echo__echo');
    expect(await host.call('echo__echo', { text: 'grüße 😀' })).toMatchObject({
      text: 'grüße 😀',
      isError: false,
    });
    expect(await host.call('remove_server', { name: 'echo' })).toMatchObject({ isError: false });
    await told(host, 2);
    expect(await host.tools()).toEqual(MANAGEMENT_TOOLS);
    const late = await host.call('echo__echo', { text: 'late' });
    expect(late.isError).toBe(true);
    expect(late.text).toMatch(/'echo' was removed.*add_server/);
    await host.leave();
  });

  test('a rebuilt server is reloaded, and its new tools can be called', async () => {
    const host = await start();
    const { become, server } = swappable(host.project, 'echo');
    const added = await host.call('add_server', { name: 'dev', ...server });
    await told(host, 1);
    expect(added.structured.server.tools).not.toContain('dev__reverse');
    become('echo-v2');
    // Nobody watches the file.
    expect(await host.tools()).not.toContain('dev__reverse');
    expect((await host.call('dev__reverse', { text: 'abc' })).isError).toBe(true);
    const reloaded = await host.call('reload_server', { name: 'dev' });
    expect(reloaded.structured.server.tools).toContain('dev__reverse');
    await told(host, 2);
    expect(await host.tools()).toContain('dev__reverse');
    expect((await host.call('dev__reverse', { text: 'abc' })).text).toBe('cba');
    expect((await host.call('dev__echo', { text: 'abc' })).text).toBe('abc');
    await host.leave();
  });

  test('a server that is killed is listed as crashed, cannot be called, and comes back by a reload', async () => {
    const host = await start();
    await host.call('add_server', { name: 'frail', ...nodeServer('crash') });
    await told(host, 1);
    const before = await listed(host, 'frail');
    process.kill(before!.pid, 'SIGKILL');
    await told(host, 2);
    expect(await listed(host, 'frail')).toMatchObject({ status: 'crashed', tools: [], pid: 0 });
    expect(await host.tools()).toEqual(MANAGEMENT_TOOLS);
    const lost = await host.call('frail__echo', { text: 'x' });
    expect(lost.isError).toBe(true);
    expect(lost.text).toMatch(/'frail' has crashed.*SIGKILL.*reload_server/);
    const reloaded = await host.call('reload_server', { name: 'frail' });
    expect(reloaded.structured.server.status).toBe('running');
    expect(reloaded.structured.server.pid).not.toBe(before!.pid);
    expect((await host.call('frail__echo', { text: 'again' })).text).toBe('again');
    await host.leave();
  });

  test('ten slow calls at once are all answered; those that run when their server is removed end cleanly', async () => {
    const host = await start();
    await host.call('add_server', { name: 'slow', ...nodeServer('echo') });
    const ten = (ms: (n: number) => number) =>
      Array.from({ length: 10 }, (_, n) => host.call('slow__slow_echo', { text: `number ${n}`, ms: ms(n) }));
    const right = await Promise.all(ten(() => 100));
    expect(right.map(({ text }) => text)).toEqual(right.map((_, n) => `number ${n}`));
    // Half of them take longer than a removal waits.
    const flying = ten((n) => (n % 2 === 0 ? 150 : 60_000));
    // A server takes its requests in turn: when this is answered, all ten are running.
    await host.call('slow__canary');
    expect(await host.call('remove_server', { name: 'slow' })).toMatchObject({ isError: false });
    for (const [n, { text, isError }] of (await Promise.all(flying)).entries()) {
      if (n % 2 === 0) expect({ text, isError }).toEqual({ text: `number ${n}`, isError: false });
      else {
        expect(isError).toBe(true);
        expect(text).toMatch(/'slow_echo' of server 'slow' was not answered: .*'slow' was removed/);
      }
    }
    expect(await host.tools()).toEqual(MANAGEMENT_TOOLS);
    await host.leave();
  });

  test('the whole loop: add, call, reload, call, remove', async () => {
    const host = await start();
    const added = await host.call('add_server', { name: 'own', ...nodeServer('echo') });
    const first = await host.call('own__pid');
    expect(first.text).toBe(String(added.structured.server.pid));
    await host.call('reload_server', { name: 'own' });
    const second = await host.call('own__pid');
    expect(second.text).not.toBe(first.text);
    expect(await listed(host, 'own')).toMatchObject({ status: 'running', pid: Number(second.text) });
    await host.call('remove_server', { name: 'own' });
    expect((await host.call('list_servers')).structured).toEqual({ servers: [] });
    expect([first.text, second.text].filter((pid) => alive(Number(pid)))).toEqual([]);
    await host.leave();
  });
});

describe('at the start', () => {
  test('there are exactly the four tools, whatever is configured where it is started', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { a: nodeServer('echo') } },
      '.mcp.json': { mcpServers: { b: nodeServer('echo') } },
      'mcps/c/.mcp.json': { mcpServers: { c: nodeServer('echo') } },
    });
    const mux = await startMux({ cwd: project.dir });
    expect(await mux.tools()).toEqual(MANAGEMENT_TOOLS);
    expect(await mux.servers()).toEqual([]);
    expect(processesWith(mux.client.marker)).toHaveLength(1);
  });

  test('it says who it is, and that its list of tools changes', async () => {
    const mux = await startMux();
    const hello = mux.client.messages.find(({ id }) => id === 1)!;
    expect(hello.result).toMatchObject({
      serverInfo: { name: 'mcpmux' },
      capabilities: { tools: { listChanged: true } },
    });
    expect(hello.result.instructions).toContain('add_server');
  });

  test('servers of a configuration that is named run from the beginning', async () => {
    const mux = await startMux({ config: { mcpServers: { pre: nodeServer('echo', '--tools=echo') } } });
    await mux.serverOnce('pre', 'running');
    expect(await mux.tools()).toEqual([...MANAGEMENT_TOOLS, 'pre__echo']);
    expect(textOf(await mux.client.call('pre__echo', { text: 'there' }))).toBe('there');
  });

  test('each tool says what it takes, what it gives and what it may do', async () => {
    const mux = await startMux();
    const tools = await mux.client.listTools();
    const of = (name: string): Json => tools.find((tool: Json) => tool.name === name);
    const ajv = new Ajv2020({ strict: true });
    for (const tool of tools) {
      for (const key of ['title', 'description']) expect(tool[key], tool.name).toMatch(/\w/);
      ajv.compile(tool.inputSchema);
      ajv.compile(tool.outputSchema);
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.outputSchema.type).toBe('object');
    }
    expect(of('add_server').inputSchema.required).toEqual(['name', 'command']);
    expect(Object.keys(of('add_server').inputSchema.properties)).toEqual([
      'name',
      'command',
      'args',
      'env',
      'cwd',
      'timeout_ms',
    ]);
    for (const name of ['remove_server', 'reload_server']) {
      expect(of(name).inputSchema).toMatchObject({
        required: ['name'],
        properties: { name: { type: 'string' } },
      });
    }
    expect(of('list_servers').inputSchema.properties).toEqual({});
    const hints = Object.fromEntries(tools.map(({ name, annotations }: Json) => [name, annotations]));
    expect(hints).toMatchObject({
      add_server: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
      remove_server: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      reload_server: { readOnlyHint: false, destructiveHint: true },
      list_servers: { readOnlyHint: true },
    });
  });

  test('every answer is what the tool said it gives, as structure and as text; a refusal has no structure', async () => {
    const mux = await startMux();
    const ajv = new Ajv2020({ strict: true });
    const validators = new Map(
      (await mux.client.listTools()).map((tool: Json) => [tool.name, ajv.compile(tool.outputSchema)]),
    );
    const call = async (name: string, args: object = {}): Promise<Json> => {
      const { result } = await mux.client.call(name, args);
      if (result.isError === true) {
        expect(result).not.toHaveProperty('structuredContent');
        return undefined;
      }
      const validate = validators.get(name)!;
      expect(validate(result.structuredContent), JSON.stringify(validate.errors)).toBe(true);
      expect(JSON.parse(result.content.at(-1).text)).toEqual(result.structuredContent);
      return result.structuredContent;
    };
    expect(await call('list_servers')).toEqual({ servers: [] });
    await call('add_server', { name: 'frail', ...nodeServer('crash') });
    await call('add_server', { name: 'bare', ...SERVER_WITHOUT_TOOLS });
    const starting = call('add_server', { name: 'late', ...nodeServer('slow', '--initialize-ms=400') });
    await mux.serverOnce('late', 'starting');
    const { servers } = await call('list_servers');
    expect(servers.map(({ status }: ListedServer) => status)).toEqual(['running', 'running', 'starting']);
    await mux.client.call('frail__crash');
    await mux.serverOnce('frail', 'crashed');
    await call('list_servers');
    expect(await call('add_server', { name: 'frail', command: 'x' })).toBeUndefined();
    await starting;
    await call('reload_server', { name: 'frail' });
    expect(await call('remove_server', { name: 'frail' })).toEqual({ removed: 'frail' });
    expect(await call('remove_server', { name: 'frail' })).toBeUndefined();
  });
});

describe('list_servers', () => {
  test('gives whole numbers and lists, and how long each has been running', async () => {
    const mux = await startMux();
    await mux.added('bare', { command: process.execPath, args: SERVER_WITHOUT_TOOLS.args });
    const listed = await until(
      async () => {
        const server = await mux.server('bare');
        return server.uptime_seconds > 0 ? server : undefined;
      },
      { what: 'a second to be over' },
    );
    expect(Object.keys(listed)).toEqual([
      'name',
      'command',
      'args',
      'status',
      'tools',
      'pid',
      'uptime_seconds',
    ]);
    expect(listed).toMatchObject({ args: SERVER_WITHOUT_TOOLS.args, tools: [], uptime_seconds: 1 });
    await mux.added('plain', { command: serverLauncher(mux.project) });
    expect(await mux.server('plain')).toMatchObject({ args: [], uptime_seconds: 0 });
    process.kill(listed.pid, 'SIGKILL');
    expect(await mux.serverOnce('bare', 'crashed')).toEqual({
      name: 'bare',
      ...SERVER_WITHOUT_TOOLS,
      status: 'crashed',
      tools: [],
      pid: 0,
      uptime_seconds: 0,
      error: expect.stringMatching(/'bare' was ended by SIGKILL/),
    });
  });

  /** A program that needs no arguments. */
  function serverLauncher(project: Project): string {
    project.write('launch', `#!/bin/sh\nexec '${process.execPath}' '${serverPath('echo')}'\n`);
    chmodSync(project.path('launch'), 0o755);
    return project.path('launch');
  }
});

describe('stderr', () => {
  test('has what servers write, line by line behind their names, and one line for every event', async () => {
    const mux = await startMux({ args: ['--log-level', 'debug'] });
    const { pid } = await mux.added('loud', nodeServer('crash', '--stderr-lines=2', '--code=3'));
    await mux.client.call('loud__echo', { text: 'a secret' });
    await mux.client.call('loud__crash');
    await mux.add('never', { command: 'no-such-program-anywhere' });
    await mux.client.waitForStderr(/could not be started/);
    const { stderr } = mux.client;
    const lines = stderr.split('\n').filter((line) => line !== '');
    for (const line of lines) expect(line).toMatch(/^\S+Z (mcpmux (debug|info|warn|error) |\[loud\] )/);
    expect(stderr).toMatch(/ \[loud\] crash line 1\n/);
    expect(stderr).toMatch(/ \[loud\] crash line 2\n/);
    for (const event of [
      `info  spawned server=loud pid=${pid}`,
      `info  running server=loud pid=${pid}`,
      'info  added server=loud tools=5',
      'debug call tool=loud__echo server=loud',
      'debug finished tool=loud__echo server=loud subtool=echo ms=',
      `info  exited server=loud pid=${pid} code=3`,
      'warn  server failed server=loud',
      'warn  server failed server=never',
    ]) {
      expect(stderr).toContain(`mcpmux ${event}`);
    }
    expect(stderr).toMatch(/mcpmux \w+ +listed server=loud .*=5\n/);
    expect(stderr).not.toContain('a secret');
  });
});
