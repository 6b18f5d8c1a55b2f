/** Which era is spoken where both ends could speak either. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ALL_CAPABILITIES, MODERN, ModernCaller, startRemoteSdk } from '../../helpers/eras.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { HttpSession } from '../../helpers/http-client.ts';
import { startHttpGateway } from '../../helpers/http-gateway.ts';
import { marker, waitUntilGone } from '../../helpers/processes.ts';
import { textOf } from '../../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT, serverPath } from '../../helpers/temp-project.ts';

const remoteSdk = async (...args: string[]): Promise<any> => {
  const { url, close } = await startRemoteSdk(args);
  onTestFinished(close);
  return { url };
};

const parsedText = async (answer: Promise<any>): Promise<any> => JSON.parse(textOf(await answer));

test('a server of both eras is spoken to in the era of the client', async () => {
  const servers = {
    pipe: nodeServer('sdk-v2', '--era=both', '--name=pipe'),
    net: await remoteSdk('--era=both', '--name=net'),
  };
  const { call } = await startGateway(servers, { capabilities: ALL_CAPABILITIES, version: '2025-11-25' });
  for (const server of ['pipe', 'net'])
    expect(await parsedText(call(server, 'about'))).toMatchObject({ era: 'legacy', version: '2025-11-25' });
  const { client } = await startGateway(servers, { raw: true });
  const modern = ModernCaller.over(client);
  for (const server of ['pipe', 'net'])
    expect(
      await parsedText(modern.call(`${server}_suite`, { action: 'call', subtool: 'about', args: {} })),
    ).toMatchObject({ era: 'modern', version: MODERN });
});

test.each([
  ['both', ['legacy', 'modern'], 2],
  ['legacy', ['legacy', 'legacy'], 1],
  ['modern', ['modern', 'modern'], 1],
] as const)(
  'clients of both eras that share a server (%s) get what each can have',
  async (kind, eras, processes) => {
    const gateway = await startHttpGateway({
      pipe: { ...nodeServer('sdk-v2', `--era=${kind}`, '--name=pipe'), isolation: 'shared' },
    });
    const about = ['pipe_suite', { action: 'call', subtool: 'about', args: {} }] as const;
    const older = await HttpSession.open(gateway, { capabilities: ALL_CAPABILITIES });
    const modern = ModernCaller.overHttp(gateway);
    for (let round = 0; round < 2; round++) {
      const [one, two] = await Promise.all([
        parsedText(older.call(...about)),
        parsedText(modern.call(...about)),
      ]);
      expect([one.era, two.era]).toEqual(eras);
    }
    await gateway.untilLeft({ children: processes });
  },
);

test('what its era was is still known when the gateway is started again, and a change of it is met', async () => {
  const project = createProject();
  const env = { SWITCHBOARD_STATE_DIR: project.path('state') };
  for (const era of ['modern', 'modern', 'legacy', 'both', 'modern'] as const) {
    // The definition stays the same: what it starts has changed.
    const flags = `process.argv.push('--era=${era}', '--name=pipe');`;
    const file = project.write(
      'pipe.mjs',
      `${flags}\nawait import(${JSON.stringify(serverPath('sdk-v2'))});\n`,
    );
    const servers = { pipe: { command: process.execPath, args: [file] } };
    const { call, client } = await startGateway(servers, { capabilities: ALL_CAPABILITIES, env });
    expect((await parsedText(call('pipe', 'about'))).era, era).toBe(era === 'both' ? 'legacy' : era);
    await client.close();
  }
});

test('one wire serves either: a client that tries the modern era first stays with it', async () => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { pipe: nodeServer('sdk-v2', '--era=legacy', '--name=pipe') } },
  });
  const mark = marker();
  const client = new Client(
    { name: 'auto', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
  onTestFinished(async () => {
    await client.close();
    await waitUntilGone(mark);
  });
  const env = { ...(process.env as Record<string, string>), SWITCHBOARD_STATE_DIR: project.path('.state') };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(ROOT, 'dist/index.js')],
      cwd: project.dir,
      env: { ...env, ...mark.env },
      stderr: 'ignore',
    }),
  );
  expect(client.getNegotiatedProtocolVersion()).toBe(MODERN);
  const called: any = await client.callTool({
    name: 'pipe_suite',
    arguments: { action: 'call', subtool: 'about', args: {} },
  });
  expect(JSON.parse(called.content[0].text).era).toBe('legacy');
});

test('a client that has asked what we are may still turn to the handshake', async () => {
  const servers = { pipe: nodeServer('sdk-v2', '--era=legacy', '--name=pipe') };
  const { client, call } = await startGateway(servers, { raw: true });
  const modern = ModernCaller.over(client);
  expect((await modern.request('server/discover')).result.supportedVersions).toContain(MODERN);
  expect((await client.initialize('2025-11-25', ALL_CAPABILITIES)).result.protocolVersion).toBe('2025-11-25');
  expect((await parsedText(call('pipe', 'about'))).era).toBe('legacy');
});
