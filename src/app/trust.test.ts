import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LoadedConfig, ServerDefinition } from '../config/index.ts';
import { pinnedBy, trustRecords } from './trust.ts';

type StoreConfig = Pick<LoadedConfig, 'writtenStore' | 'settings'>;
const withStore = (text: string, group = 'default'): StoreConfig => ({
  writtenStore: { text, file: 'a.json' },
  settings: { replica: { group } } as LoadedConfig['settings'],
});
const STATE = join('/', 'state');
const directory = (config: StoreConfig, env: Record<string, string> = {}): string =>
  trustRecords(config, { SWITCHBOARD_STATE_DIR: STATE, ...env }, undefined).directory;

test('each store and group has copies of its own, however its address is written', () => {
  const production = directory(withStore('${STORE}'), { STORE: 'redis://production' });
  expect(directory(withStore('${STORE}'), { STORE: 'redis://staging' })).not.toBe(production);
  expect(directory(withStore('redis://production', 'other'))).not.toBe(production);
  expect(directory(withStore('redis://production/1'))).not.toBe(production);
  for (const same of [
    'redis://Production:6379/0',
    'rediss://me:pass%40word@production',
    'redis://production',
  ])
    expect(directory(withStore(same))).toBe(production);
});

test('a program that does not know the password finds the copies', () => {
  const text = 'redis://me:${PASSWORD}@${HOST}:6379/2';
  const known = directory(withStore(text), { PASSWORD: 'x', HOST: 'one' });
  expect(directory(withStore(text), { HOST: 'one' })).toBe(known);
  expect(directory(withStore(text), { HOST: 'two' })).not.toBe(known);
  // Nor does it stop where it knows nothing: it has copies that nobody else changes.
  expect(directory(withStore('${STORE}'))).toContain('replicas');
});

test('an empty address changes nothing: there is no store', () => {
  const cwd = join('/', 'work');
  const server = {
    name: 's',
    kind: 'stdio',
    written: { cwd },
    origin: { file: join('/', 'work', 'a.json') },
  };
  const key = (config: Partial<StoreConfig>): string =>
    pinnedBy(config, {})(server as unknown as ServerDefinition).key;
  expect(directory(withStore('${STORE:-}'))).toBe(STATE);
  expect(key(withStore('${STORE:-}'))).toBe(key({}));
  expect(key(withStore('redis://host'))).not.toBe(key({}));
});
