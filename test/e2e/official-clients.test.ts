import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createProject, npmServer, ROOT } from '../helpers/temp-project.ts';
import { marker, processesWith, waitUntilGone } from '../helpers/processes.ts';

const PROGRAM = join(ROOT, 'dist/index.js');

function project() {
  return createProject({
    'switchboard.config.json': { mcpServers: { everything: npmServer('everything') } },
  });
}

const clients = {
  'SDK v1': (cwd: string, env: Record<string, string>) => {
    const client = new ClientV1({ name: 'test', version: '1' });
    const transport = new TransportV1({
      command: process.execPath,
      args: [PROGRAM],
      cwd,
      env,
      stderr: 'ignore',
    });
    return { client, connect: () => client.connect(transport), pid: () => transport.pid };
  },
  'SDK v2': (cwd: string, env: Record<string, string>) => {
    const client = new ClientV2({ name: 'test', version: '1' });
    const transport = new TransportV2({
      command: process.execPath,
      args: [PROGRAM],
      cwd,
      env,
      stderr: 'ignore',
    });
    return { client, connect: () => client.connect(transport), pid: () => transport.pid };
  },
};

describe.each(Object.entries(clients))('%s', (_name, create) => {
  test('lists, introspects and calls through the gateway, with progress, and leaves nothing behind', async () => {
    const mark = marker();
    const { client, connect } = create(project().dir, {
      ...(process.env as Record<string, string>),
      ...mark.env,
    });
    onTestFinished(() => client.close());
    await connect();
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['everything_suite']);
    const introspected: any = await client.callTool({
      name: 'everything_suite',
      arguments: { action: 'introspect' },
    });
    expect(introspected.structuredContent.tools.map((tool: any) => tool.name)).toContain('echo');
    const call = { action: 'call', subtool: 'echo', args: { message: 'hello' } };
    const echoed: any = await client.callTool({ name: 'everything_suite', arguments: call });
    expect(echoed.content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
    const image = { action: 'call', subtool: 'get-tiny-image', args: {} };
    const pictured: any = await client.callTool({ name: 'everything_suite', arguments: image });
    expect(pictured.content.some((item: any) => item.type === 'image')).toBe(true);
    const wrong: any = await client.callTool({
      name: 'everything_suite',
      arguments: { action: 'call', subtool: 'ecko' },
    });
    expect(wrong.isError).toBe(true);
    await client.close();
    await waitUntilGone(mark, 7000);
  });
});

test('SDK v1 receives progress of a long operation', async () => {
  const { client, connect } = clients['SDK v1'](project().dir, process.env as Record<string, string>);
  onTestFinished(() => client.close());
  await connect();
  const reports: number[] = [];
  const args = {
    action: 'call',
    subtool: 'trigger-long-running-operation',
    args: { duration: 0.4, steps: 4 },
  };
  await client.callTool({ name: 'everything_suite', arguments: args }, undefined, {
    onprogress: ({ progress }) => reports.push(progress),
  });
  // The fourth comes right before the answer, and this client drops it when it happens to read both at once.
  expect(reports.slice(0, 3)).toEqual([1, 2, 3]);
});

describe('the official inspector', () => {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('@modelcontextprotocol/inspector/package.json');
  const { bin } = require(manifest) as { bin: Record<string, string> };
  const inspect = async (cwd: string, env: Record<string, string>, ...args: string[]): Promise<any> => {
    const program = join(dirname(manifest), bin['mcp-inspector']!);
    // It gives its server a clean environment.
    const allow = ['-e', 'SWITCHBOARD_ALLOW_PROJECT=1'];
    const command = [program, '--cli', ...allow, process.execPath, PROGRAM, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      cwd,
      env: { ...process.env, ...env },
    });
    return JSON.parse(stdout);
  };

  test('lists and calls through the gateway on its command line', async () => {
    const { dir } = project();
    const mark = marker();
    const listed = await inspect(dir, mark.env, '--method', 'tools/list');
    expect(listed.tools.map((tool: any) => tool.name)).toEqual(['everything_suite']);
    const args = ['action=call', 'subtool=echo', 'args={"message":"inspected"}'].flatMap((arg) => [
      '--tool-arg',
      arg,
    ]);
    const called = await inspect(
      dir,
      mark.env,
      '--method',
      'tools/call',
      '--tool-name',
      'everything_suite',
      ...args,
    );
    expect(called.content[0].text).toBe('Echo: inspected');
    await waitUntilGone(mark, 7000);
    expect(processesWith(mark)).toEqual([]);
  });
});
