import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';
import { openRoutes } from '../../src/switchyard/features/proxy/routes.ts';
import { createProxyServer } from '../../src/switchyard/features/proxy/server.ts';
import { testYard, type TestYard } from './yard-home.ts';

/** A proxy in this process, for a project whose services are recorded by the test. */
export interface TestProxy {
  readonly yard: TestYard;
  readonly port: number;
}

export async function openProxy(): Promise<TestProxy> {
  const yard = await testYard();
  const { registry, home } = yard.context;
  const proxy = createProxyServer(openRoutes(registry), home.root);
  onTestFinished(() => proxy.close());
  return { yard, port: await listening(proxy.http) };
}

/** The port it listens on. */
export async function listening(server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
