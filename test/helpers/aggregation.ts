import { join } from 'node:path';
import { test } from 'vitest';
import { textOf, type RawClient, type RpcMessage } from './raw-client.ts';
import { nodeServer, ROOT } from './temp-project.ts';

export const PROGRAM = join(ROOT, 'dist/index.js');
export const FLAT_PLAIN = { exposure: 'flat', naming: 'plain' };
export const onLinux = test.runIf(process.platform === 'linux');

/** A server of that name that offers these components, by kind. */
export function offering(name: string, offer: Readonly<Record<string, string[]>>, ...flags: string[]) {
  const lists = Object.entries(offer).map(([kind, names]) => `--${kind}=${names.join(',')}`);
  return nodeServer('offering', `--name=${name}`, ...lists, ...flags);
}

export async function listAll(client: RawClient, method: string): Promise<any[]> {
  const { result, error } = await client.request(method);
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return Object.values(result).find(Array.isArray) ?? [];
}

/** Resolves with a list once it has all of these, requested again after each notification that it has changed. */
export async function listWith(
  client: RawClient,
  method: string,
  key: string,
  names: string[],
): Promise<any[]> {
  for (;;) {
    const from = client.messages.length;
    const items = await listAll(client, method);
    if (names.every((name) => items.some((item) => item[key] === name))) return items;
    await client.waitFor((message) => message.method === listChangedMethod(method), { from });
  }
}

export const listChangedMethod = (method: string): string =>
  `notifications/${method.split('/')[0]!}/list_changed`;

export const notificationsOf = (client: RawClient, method: string): RpcMessage[] =>
  client.notifications.filter((message) => message.method === method);

export const jsonOf = async (response: Promise<RpcMessage>): Promise<any> =>
  JSON.parse(textOf(await response));
