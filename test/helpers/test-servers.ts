import { expect } from 'vitest';
import { startClient, textOf, type RawClient, type RawClientOptions } from './raw-client.ts';
import { nodeServer } from './temp-project.ts';

type Options = Omit<RawClientOptions, 'command' | 'args'>;

export function startTestServer(name: string, args: string[] = [], options: Options = {}): RawClient {
  return startClient({ ...nodeServer(name, ...args), strict: false, ...options });
}

export async function startReadyServer(
  name: string,
  args: string[] = [],
  options: Options = {},
): Promise<RawClient> {
  const client = startTestServer(name, args, options);
  const response = await client.initialize();
  expect(response.result?.capabilities?.tools).toBeDefined();
  return client;
}

export const expectEcho = async (client: RawClient): Promise<void> => {
  expect(textOf(await client.call('echo', { text: 'grüße 😀' }))).toBe('grüße 😀');
};
