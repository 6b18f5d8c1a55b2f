/**
 * Roles over HTTP: what a client may not use is on no list and cannot be reached, by whatever path it is tried; a change
 * of the configuration counts for open sessions too; limits hold and say so.
 */
import { describe, expect, test } from 'vitest';
import { HttpSession, type EventReader, type Target } from '../helpers/http-client.ts';
import { startHttpGateway, TOKEN, type HttpGateway } from '../helpers/http-gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { runCli } from '../helpers/run-cli.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const OFFER = [
  '--tools=read_note,delete_note',
  '--resources=note://open,secret://vault',
  '--templates=note://{id},secret://{id}',
  '--prompts=ask,plan',
];

const notes = (...more: string[]) => nodeServer('offering', '--name=notes', '--quiet', ...OFFER, ...more);

/** May only read, and only of the notes. */
const READER = {
  match: { tokens: ['ann'] },
  servers: ['notes'],
  tools: ['*', '!delete_*'],
  resources: ['note:*'],
  prompts: ['ask'],
};

const EXPOSURES = ['flat', 'suite', 'search', 'code'] as const;

const servers = {
  notes: notes(),
  vault: nodeServer('offering', '--name=vault', '--quiet', '--tools=open_vault'),
};

async function gatewayWith(config: object, served: Parameters<typeof startHttpGateway>[0] = servers) {
  const gateway = await startHttpGateway(served, { config: { exposure: 'flat', ...config } });
  const tokenOf = async (name: string): Promise<Target> => {
    const { json } = await runCli(gateway.project, ['token', 'create', name, '--json']);
    return { url: gateway.url, token: json.token as string };
  };
  return { gateway, tokenOf, ann: await HttpSession.open(await tokenOf('ann')) };
}

/** Everything that a client is ever shown. */
async function shown(session: HttpSession): Promise<string> {
  const methods = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
  const lists = await Promise.all(methods.map((method) => session.requestText(method)));
  return lists.join('\n');
}

function reconfigure(gateway: HttpGateway, config: object): void {
  const all = { mcpServers: servers, http: { token: TOKEN }, exposure: 'flat', ...config };
  gateway.project.write('switchboard.config.json', all);
  gateway.signal('SIGHUP');
}

/** The error, or what it said. */
function outcome(answer: Awaited<ReturnType<HttpSession['call']>>): string {
  return answer.error === undefined ? textOf(answer) : answer.error.message;
}

const FORBIDDEN = /delete_note|secret:|plan|vault/;

test('a client that matches no role sees nothing and calls nothing', async () => {
  const reader = { ...READER, match: { tokens: ['nobody'] } };
  const { gateway, tokenOf, ann } = await gatewayWith({ roles: { reader } });
  const bob = await HttpSession.open(await tokenOf('bob'));
  const own = await HttpSession.open(gateway);
  for (const session of [ann, bob, own]) {
    const lists = await shown(session);
    expect(lists).not.toMatch(/note|vault|setup/);
    expect(outcome(await session.call('notes__read_note'))).toContain('Unknown tool');
  }
  expect(gateway.children().filter(({ command }) => command.includes('offering'))).toHaveLength(0);
});

test('the token of the gateway and everyone can have roles', async () => {
  const everyone = { ...READER, match: 'everyone' };
  const operator = { match: { tokens: ['http.token'] }, servers: ['*'] };
  const { gateway, tokenOf } = await gatewayWith({ roles: { everyone, operator } });
  const bob = await HttpSession.open(await tokenOf('bob'));
  expect(await bob.requestText('tools/list')).toContain('notes__read_note');
  expect(await bob.requestText('tools/list')).not.toMatch(FORBIDDEN);
  const own = await HttpSession.open(gateway);
  expect(await own.requestText('tools/list')).toMatch(/vault__open_vault/);
});

describe('what a role does not allow', () => {
  test('is on no list, and what it allows works', async () => {
    const { ann } = await gatewayWith({ roles: { reader: READER } });
    const lists = await shown(ann);
    expect(lists).not.toMatch(FORBIDDEN);
    for (const name of ['notes__read_note', 'note://open', 'note://{id}', 'notes__ask'])
      expect(lists).toContain(name);
    expect(outcome(await ann.call('notes__read_note'))).toBe('notes ran read_note with {}');
    const read = await ann.requestText('resources/read', { uri: 'note://7' });
    expect(read).toContain('notes made note://7');
    expect(await ann.requestText('prompts/get', { name: 'notes__ask' })).toContain('notes says ask');
  });

  test('is not reached by its name, its URI, a template, a completion or a subscription', async () => {
    const { ann, gateway } = await gatewayWith({ roles: { reader: READER } });
    const tries: [string, object][] = [
      ['tools/call', { name: 'notes__delete_note', arguments: {} }],
      ['tools/call', { name: 'delete_note', arguments: {} }],
      ['tools/call', { name: 'vault__open_vault', arguments: {} }],
      ['resources/read', { uri: 'secret://vault' }],
      ['resources/read', { uri: 'secret://7' }],
      ['resources/read', { uri: 'switchboard://notes/secret://vault' }],
      ['resources/subscribe', { uri: 'secret://vault' }],
      ['resources/subscribe', { uri: 'secret://7' }],
      ['prompts/get', { name: 'notes__plan' }],
      ['prompts/get', { name: 'plan' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'notes__plan' }, argument: { name: 'a', value: '' } },
      ],
      [
        'completion/complete',
        { ref: { type: 'ref/resource', uri: 'secret://{id}' }, argument: { name: 'id', value: '' } },
      ],
      ['custom/anything', {}],
    ];
    // The server runs, so that nothing is refused only because it is not known yet.
    await ann.call('notes__read_note');
    for (const [method, params] of tries) {
      const { error, result } = await ann.request(method, params);
      expect([method, params, result]).toEqual([method, params, undefined]);
      expect([method, params, error!.message]).toEqual([
        method,
        params,
        expect.stringMatching(/Unknown|not found/),
      ]);
      // It does not say that there is such a thing.
      expect(error!.message).not.toMatch(/not allowed|hidden/);
    }
    expect(gateway.children().filter(({ command }) => command.includes('--name=vault'))).toHaveLength(0);
  });

  test('is not reached as the only server either, whose unknown methods are passed on', async () => {
    const { ann } = await gatewayWith({ roles: { reader: READER } }, { notes: notes() });
    await ann.call('notes__read_note');
    const { error } = await ann.request('custom/anything', {});
    expect(error).toMatchObject({ code: -32601 });
  });

  test.each(EXPOSURES)(
    'is not found, described or called where servers are exposed as %s',
    async (exposure) => {
      const { ann } = await gatewayWith({ exposure, roles: { reader: READER } });
      const code = (script: string) => ann.call('run_code', { code: script });
      const tries: Record<(typeof EXPOSURES)[number], (() => ReturnType<HttpSession['call']>)[]> = {
        flat: [() => ann.call('notes__delete_note')],
        suite: [
          () => ann.call('notes_suite', { action: 'introspect' }),
          () => ann.call('notes_suite', { action: 'introspect', subtools: ['delete_note'] }),
          () => ann.call('notes_suite', { action: 'call', subtool: 'delete_note', args: {} }),
          () => ann.call('vault_suite', { action: 'introspect' }),
        ],
        search: [
          () => ann.call('find_tool', { query: 'delete note' }),
          () => ann.call('find_tool', { query: 'open vault' }),
          () => ann.call('find_tool', { server: 'vault' }),
          () => ann.call('call_tool', { tool: 'notes/delete_note', args: {} }),
          () => ann.call('call_tool', { tool: 'vault/open_vault', args: {} }),
        ],
        code: [
          () => ann.call('find_tool', { query: 'delete note' }),
          () => code('return await notes.delete_note({})'),
          () => code('return await vault.open_vault({})'),
          () => code('return Object.keys(globalThis).join() + Object.keys(notes).join()'),
        ],
      };
      const lists = await shown(ann);
      expect(lists).not.toMatch(/delete_note|open_vault|vault_suite/);
      for (const attempt of tries[exposure]) {
        const answer = await attempt();
        const said = JSON.stringify(answer);
        expect(said).not.toMatch(/ran (?:delete_note|open_vault)/);
        expect(said).not.toMatch(/is not allowed by Switchboard/);
      }
      const allowed = {
        flat: () => ann.call('notes__read_note'),
        suite: () => ann.call('notes_suite', { action: 'call', subtool: 'read_note', args: {} }),
        search: () => ann.call('call_tool', { tool: 'notes/read_note', args: {} }),
        code: () => code('return await notes.read_note({})'),
      };
      expect(JSON.stringify(await allowed[exposure]())).toContain('notes ran read_note');
    },
  );

  test('is not in a compound tool, which goes where nothing is left of it', async () => {
    const part = (...names: string[]) => ({ tools: names.map((name) => ({ name })) });
    const tools = {
      both: {
        description: 'Both.',
        subtools: { notes: part('read_note', 'delete_note'), vault: part('open_vault') },
      },
      none: { description: 'None.', subtools: { vault: part('open_vault') } },
    };
    const { ann } = await gatewayWith({ exposure: 'hidden', tools, roles: { reader: READER } });
    const lists = await shown(ann);
    expect(lists).not.toMatch(/delete_note|vault|none/);
    const call = (server: string, tool: string) => ann.call('both', { server, tool, args: {} });
    expect(outcome(await call('notes', 'read_note'))).toContain('notes ran read_note');
    expect(outcome(await call('notes', 'delete_note'))).toMatch(/no tool 'delete_note'/);
    expect(outcome(await call('vault', 'open_vault'))).toMatch(/no server 'vault'/);
  });

  test('is not reached through the tools that manage servers, which need a role as well', async () => {
    const roles = {
      reader: READER,
      manager: { match: { tokens: ['max'] }, servers: ['notes'], management: true },
    };
    const management = { enabled: true, approval: 'auto' };
    const { ann, tokenOf } = await gatewayWith({ management, roles });
    expect(await ann.requestText('tools/list')).not.toContain('add_server');
    for (const name of ['add_server', 'reload_server', 'list_servers', 'remove_server'])
      expect(outcome(await ann.call(name, { name: 'vault' }))).toContain('Unknown tool');
    const max = await HttpSession.open(await tokenOf('max'));
    expect(await max.requestText('tools/list')).toContain('add_server');
    expect(outcome(await max.call('list_servers'))).not.toMatch(/"vault"|name=vault/);
    expect(outcome(await max.call('reload_server', { name: 'vault' }))).toMatch(/vault/);
    expect(outcome(await max.call('vault__open_vault'))).toContain('Unknown tool');
  });

  test('is nothing that another principal could be reached by: sessions belong to who opened them', async () => {
    const { ann, tokenOf } = await gatewayWith({
      roles: { reader: READER, all: { match: { tokens: ['max'] }, servers: ['*'] } },
    });
    const max = await HttpSession.open(await tokenOf('max'));
    const stolen = await fetch(ann.target.url, {
      method: 'POST',
      headers: {
        ...ann.headers({ accept: 'application/json, text/event-stream', 'content-type': 'application/json' }),
        'mcp-session-id': max.id,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(stolen.status).toBe(404);
  });

  test('is not reached in a server that all clients share', async () => {
    const shared = { notes: { ...notes(), isolation: 'shared' } };
    const roles = { reader: READER, all: { match: { tokens: ['max'] }, servers: ['*'] } };
    const { ann, tokenOf } = await gatewayWith({ roles }, shared);
    const max = await HttpSession.open(await tokenOf('max'));
    expect(outcome(await max.call('notes__delete_note'))).toContain('ran delete_note');
    expect(await shown(max)).toMatch(/delete_note/);
    expect(await shown(ann)).not.toMatch(FORBIDDEN);
    expect(outcome(await ann.call('notes__delete_note'))).toContain('Unknown tool');
    expect(outcome(await ann.call('notes__read_note'))).toContain('ran read_note');
  });
});

describe('a change of the roles', () => {
  test('counts at once in open sessions, which are told', async () => {
    const { gateway, ann } = await gatewayWith({ roles: { reader: READER } });
    await shown(ann);
    await ann.call('notes__read_note');
    const stream: EventReader = await ann.listen();
    reconfigure(gateway, { roles: { reader: { ...READER, servers: ['*'], tools: ['*', '!read_*'] } } });
    await stream.waitFor(({ method }) => method === 'notifications/tools/list_changed');
    const list = (): Promise<string> => ann.requestText('tools/list');
    await until(async () => (await list()).includes('open_vault'), { what: 'the new server' });
    expect(await list()).toMatch(/notes__delete_note/);
    expect(await list()).not.toMatch(/read_note/);
    expect(outcome(await ann.call('notes__read_note'))).toContain('Unknown tool');
    expect(outcome(await ann.call('notes__delete_note'))).toContain('ran delete_note');
    reconfigure(gateway, { roles: { other: { ...READER, match: { tokens: ['max'] } } } });
    await until(async () => !(await list()).includes('notes'), { what: 'the end of everything' });
    expect(outcome(await ann.call('notes__delete_note'))).toContain('Unknown tool');
  });

  test('ends subscriptions and kept results that are not allowed any more', async () => {
    const served = { notes: nodeServer('offering', '--name=notes', ...OFFER) };
    const all = { ...READER, tools: ['*'], resources: ['*'] };
    const results = { maxTokens: 300 };
    const { gateway, ann } = await gatewayWith({ roles: { reader: all }, results }, served);
    await shown(ann);
    await ann.request('resources/subscribe', { uri: 'secret://vault' });
    await ann.request('resources/subscribe', { uri: 'note://open' });
    const kept = JSON.stringify(await ann.call('notes__read_note', { text: 'long '.repeat(2000) }));
    const uri = /switchboard-result:\/\/\w+/.exec(kept)![0];
    expect((await ann.request('resources/read', { uri })).error).toBeUndefined();
    const stream = await ann.listen();
    gateway.project.write('switchboard.config.json', {
      mcpServers: served,
      http: { token: TOKEN },
      ...{
        exposure: 'flat',
        results,
        roles: { reader: { ...all, resources: ['note:*'], tools: ['touch'] } },
      },
    });
    gateway.signal('SIGHUP');
    await stream.waitFor(({ method }) => method === 'notifications/tools/list_changed');
    expect((await ann.request('resources/read', { uri })).error).toBeDefined();
    await ann.call('notes__touch', { uri: 'secret://vault' });
    await ann.call('notes__touch', { uri: 'note://open' });
    await stream.waitFor(({ params }) => (params as { uri?: string } | undefined)?.uri === 'note://open');
    expect(JSON.stringify(stream.messages)).not.toContain('secret://vault');
  });
});

describe('the limits of a role', () => {
  const limited = (limits: object) => ({ roles: { reader: { ...READER, tools: ['*'], limits } } });
  const busy = { notes: nodeServer('offering', '--name=notes', ...OFFER) };

  test('bound the calls per minute of a principal, in all its sessions and through every path', async () => {
    const { ann } = await gatewayWith(limited({ callsPerMinute: 3 }), busy);
    const again = await HttpSession.open(ann.target);
    const said = [];
    for (const session of [ann, again, ann, again])
      said.push(outcome(await session.call('notes__read_note')));
    expect(said.slice(0, 3)).toEqual(Array(3).fill('notes ran read_note with {}'));
    expect(said[3]).toMatch(/limit of your role is reached: 3 calls per minute.*Try again in \d+ s/);
  });

  test('bound the calls of scripts as well', async () => {
    const { ann } = await gatewayWith({ exposure: 'code', ...limited({ callsPerMinute: 3 }) }, busy);
    const script = 'for (let n = 0; n < 5; n++) await notes.read_note({});';
    expect(outcome(await ann.call('run_code', { code: script }))).toMatch(/3 calls per minute/);
  });

  test('bound the calls at one time', async () => {
    const { ann } = await gatewayWith(limited({ concurrentCalls: 1 }), busy);
    const said = await Promise.all(
      [1, 2].map(async () => outcome(await ann.call('notes__slow', { ms: 700 }))),
    );
    expect(said.sort()).toEqual([expect.stringContaining('1 calls are running'), 'notes slept']);
    expect(outcome(await ann.call('notes__read_note'))).toContain('ran read_note');
  });

  test('bound the size of a result', async () => {
    const { ann } = await gatewayWith(limited({ resultBytes: 2048 }), busy);
    expect(outcome(await ann.call('notes__read_note', { text: 'short' }))).toContain('short');
    const said = outcome(await ann.call('notes__read_note', { text: 'long '.repeat(1000) }));
    expect(said).toMatch(/the result has \d+ bytes, and 2048 are allowed/);
  });
});

test('a server has no more processes than it may, whoever asks', async () => {
  const canary = { canary: { ...nodeServer('canary'), maxProcesses: 2 } };
  const gateway = await startHttpGateway(canary);
  const sessions = await Promise.all([1, 2, 3].map(() => HttpSession.open(gateway)));
  const call = (session: HttpSession) => session.call('canary_suite', { action: 'call', subtool: 'recall' });
  const said = (await Promise.all(sessions.map(call))).map(outcome);
  expect(said.filter((text) => text.includes('"pid"'))).toHaveLength(2);
  expect(said.filter((text) => text.includes('maxProcesses'))).toHaveLength(1);
  const refused = sessions[said.findIndex((text) => text.includes('maxProcesses'))]!;
  const served = sessions[said.findIndex((text) => text.includes('"pid"'))]!;
  await served.end();
  await until(async () => outcome(await call(refused)).includes('"pid"'), { what: 'a free process' });
});
