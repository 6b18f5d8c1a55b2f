import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { loadConfig, type LoadedConfig } from '../config/index.ts';
import { settingsNeedingRestart } from './restart-settings.ts';

const CONFIG = 'switchboard.config.json';

test.each<[string, object, string[]]>([
  ['nothing', { mcpServers: { b: { command: 'b' } }, timeouts: { rpcMs: 5 }, limits: {} }, []],
  ['the token', { http: { token: '${ANOTHER}' } }, ['http']],
  ['a limit of the door', { http: { token: '${TOKEN}', maxSessions: 3 } }, ['http']],
  ['how much is logged', { http: { token: '${TOKEN}' }, logLevel: 'debug' }, ['logLevel']],
  ['where to', { http: { token: '${TOKEN}' }, logDirectory: 'logs' }, ['logDirectory']],
  ['how it ends', { http: { token: '${TOKEN}' }, timeouts: { drainMs: 1 } }, ['timeouts.drainMs']],
])('of a configuration read again, %s comes too late', async (what, after, expected) => {
  const project = createProject();
  const read = (config: object): Promise<LoadedConfig> => {
    project.write(CONFIG, config);
    return loadConfig({ cwd: project.dir, env: {} });
  };
  const before = what === 'nothing' ? {} : { http: { token: '${TOKEN}' } };
  const started = await read({ mcpServers: { a: { command: 'a' } }, ...before });
  expect(settingsNeedingRestart(started, await read(after))).toEqual(expected);
});
