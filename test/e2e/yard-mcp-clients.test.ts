import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { newClient } from '../helpers/eras.ts';
import { ask } from '../helpers/http-client.ts';
import { alive } from '../helpers/processes.ts';
import { until } from '../helpers/until.ts';
import { SWITCHYARD } from '../helpers/yard.ts';
import { agentYard, Schemas, type AgentYard } from '../helpers/yard-agent.ts';

/** What official clients of both generations have in common, as far as it is used here. */
interface Official {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: any[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<any>;
  listResources(): Promise<{ resources: any[] }>;
  readResource(params: { uri: string }): Promise<{ contents: any[] }>;
  listPrompts(): Promise<{ prompts: any[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{ messages: any[] }>;
  getServerVersion(): any;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

const CLIENTS: readonly [
  name: string,
  client: () => Official,
  transport: typeof TransportV1 | typeof TransportV2,
][] = [
  ['SDK v1', () => new ClientV1({ name: 'v1', version: '1' }), TransportV1],
  ['SDK v2, legacy', () => newClient('legacy', {}), TransportV2],
  ['SDK v2, modern', () => newClient('modern', {}), TransportV2],
];

async function connected(
  yard: AgentYard,
  make: () => Official,
  Transport: typeof TransportV1 | typeof TransportV2,
): Promise<Official> {
  const client = make();
  const transport = new Transport({
    command: process.execPath,
    args: [SWITCHYARD, 'mcp'],
    cwd: yard.dir,
    env: { ...yard.env },
    stderr: 'ignore',
  });
  atTestEnd(() => client.close());
  await client.connect(transport);
  return client;
}

test.each(CLIENTS)(
  'an agent (%s) reads the guide, creates a branch, runs it, uses it, and stops it again',
  async (_, make, Transport) => {
    const yard = await agentYard();
    const client = await connected(yard, make, Transport);
    expect(client.getServerVersion()).toMatchObject({ name: 'switchyard', title: 'Switchyard' });
    expect(client.getInstructions()).toContain('switchyard://project/brief');

    const { resources } = await client.listResources();
    const texts: string[] = [];
    for (const { uri } of resources) texts.push((await client.readResource({ uri })).contents[0].text);
    expect(resources.map(({ name }) => name)).toEqual(['project-brief', 'project-doctor', 'agent-guide']);
    expect(JSON.parse(texts[0]!)).toMatchObject({ configured_services: ['web'], services: [] });
    expect(JSON.parse(texts[1]!)).toMatchObject({ project: 'shop' });
    expect(texts[2]).toContain('switchyard_brief');
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'switchyard_runtime_handoff',
      'switchyard_branch_runtime',
    ]);
    for (const { name, arguments: args } of prompts) {
      const given = args?.length ? { arguments: { branch: 'feature/x', services: 'web' } } : {};
      const { messages } = await client.getPrompt({ name, ...given });
      expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    }

    // Since it has seen the list, the client itself checks every result against its schema; so do we.
    const schemas = new Schemas((await client.listTools()).tools);
    const used = new Set<string>();
    const use = async (name: string, args: Record<string, unknown> = {}): Promise<any> => {
      const tool = `switchyard_${name}`;
      used.add(tool);
      const result = await client.callTool({ name: tool, arguments: args });
      expect([tool, result.isError, schemas.fault(tool, result)]).toEqual([tool, false, undefined]);
      return result.structuredContent;
    };
    const branch = 'feature/x';
    expect(await use('brief')).toMatchObject({ project: 'shop', configured_profiles: ['small'] });
    await use('doctor');
    const { worktree } = await use('create', { branch });
    expect((await use('list')).worktrees).toMatchObject([{ branch, path: worktree }]);
    const up = await use('up', { cwd: worktree });
    expect(up).toMatchObject({ branch, worktree, outcomes: [{ service: 'web', result: 'ready' }] });
    const where = await use('where', { service: 'web', cwd: worktree });
    const { url, pid } = where;
    const host = new URL(url);
    const answer = await ask({ port: Number(host.port), path: '/error', headers: { host: host.host } });
    expect(answer).toMatchObject({ status: 200, text: `web of ${branch}` });
    const line = await until(async () => {
      const { logs } = await use('logs', { branch, grep: 'went wrong', since: '10m' });
      return logs[0].lines.at(-1);
    });
    expect(line).toBe(`Error: it went wrong in ${branch}`);
    expect((await use('brief', { branch })).recent_errors[0]).toMatchObject({ service: 'web' });
    await use('checkout', { branch });
    expect(await (await fetch(`http://localhost:${yard.canonical}/`)).text()).toBe(`web of ${branch}`);
    expect((await use('where', { service: 'web', branch })).canonical).toMatchObject({ ok: true, branch });
    await use('uncheckout', { branch });
    await expect(fetch(`http://localhost:${yard.canonical}/`)).rejects.toThrow();
    expect((await use('status')).services).toMatchObject([{ service: 'web', branch, status: 'running' }]);
    expect(await use('down', { branch })).toMatchObject({ messages: ['stopped web'] });
    expect(alive(pid)).toBe(false);
    expect((await use('status')).services).toEqual([]);
    expect([...used].sort()).toEqual([...schemas.names].sort());

    // Errors are results that every client takes.
    const wrong = await client.callTool({ name: 'switchyard_where', arguments: { service: 'web', branch } });
    expect(wrong).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`web is not running for ${branch}`) }],
    });
  },
  90_000,
);
