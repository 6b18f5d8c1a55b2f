import { expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { until } from '../../../../test/helpers/until.ts';
import { createApp } from '../../../app/index.ts';
import { loadConfig, type LoadedConfig } from '../../../config/index.ts';
import { createLogger } from '../../../shared/log.ts';
import { createReloader, settingsNeedingRestart } from './reloader.ts';

const CONFIG = 'switchboard.config.json';

async function reloaderOf(tooLate: readonly string[] = []) {
  const project = createProject({ [CONFIG]: {} });
  const lines: string[] = [];
  const log = createLogger({ level: 'info', program: 'test', write: (line) => lines.push(line) });
  const read = () => loadConfig({ cwd: project.dir, env: {} });
  const env = { SWITCHBOARD_STATE_DIR: project.path('.state') };
  const app = createApp({ config: await read(), log, stderr: () => undefined, env });
  onTestFinished(() => app.close());
  const { reload } = createReloader({
    app,
    log,
    read,
    again: 'run: test reload',
    tooLate: () => tooLate,
    applied: () => undefined,
  });
  return { app, project, lines, reload };
}

test('an invalid configuration is reported with one line per problem and one hint', async () => {
  const { project, lines, reload } = await reloaderOf();
  project.write(CONFIG, { timeouts: { rpcMs: 'soon', idleMs: 'soon' } });
  reload();
  await until(() => lines.some((line) => line.includes('configuration not reloaded')));
  expect(lines).toEqual([
    expect.stringMatching(/^test error \S.*: timeouts\.rpcMs: must be a whole number/),
    expect.stringMatching(/^test error \S.*: timeouts\.idleMs: must be a whole number/),
    'test error configuration not reloaded, nothing has changed. Correct it and run: test reload\n',
  ]);
  expect(lines.join('')).not.toMatch(/\\n|start again/);
  lines.length = 0;
  project.write(CONFIG, '{');
  reload();
  await until(() => lines.some((line) => line.includes('configuration not reloaded')));
  expect(lines).toHaveLength(2);
});

test('settings that need a restart are reported after a reload', async () => {
  const { lines, reload } = await reloaderOf(['http', 'logLevel']);
  reload();
  await until(() => lines.length === 2);
  expect(lines).toEqual([
    'test info  configuration reloaded kept=0\n',
    'test warn  some changes take effect after a restart settings="http, logLevel"\n',
  ]);
});

test('a reload waits for a change of the configuration that a client is making', async () => {
  const { app, lines, project, reload } = await reloaderOf();
  let finish: () => void = () => undefined;
  const change = app.alone(() => new Promise<void>((resolve) => (finish = resolve)));
  reload();
  // Read only after the change: the previous content of the file must not be applied later.
  project.write(CONFIG, { timeouts: { rpcMs: 'soon' } });
  await new Promise((resolve) => setImmediate(resolve));
  project.write(CONFIG, {});
  finish();
  await change;
  await until(() => lines.length > 0);
  expect(lines).toEqual([expect.stringContaining('configuration reloaded')]);
});

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
