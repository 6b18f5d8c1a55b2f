/** Hooks of a JavaScript configuration: what they see and change, and what becomes of those that throw, hang or lie. */
import { onTestFinished, describe, expect, test } from 'vitest';
import type { TestGateway } from '../helpers/gateway.ts';
import { startClient, type RpcMessage } from '../helpers/raw-client.ts';
import { runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { startAnthropicServer } from '../models/anthropic-server.ts';

const SERVERS = {
  suite: nodeServer('echo'),
  flat: { ...nodeServer('echo'), exposure: 'flat' },
};
const CONFIG = {
  timeouts: { hookMs: 1500 },
  mcpServers: SERVERS,
  tools: { both: { description: 'Both.', subtools: { suite: { tools: [{ name: 'echo' }] } } } },
};

interface HookGateway extends Pick<TestGateway, 'client' | 'project'> {
  readonly echo: (text: string, more?: object) => Promise<RpcMessage>;
}

/** The built gateway with a configuration that exports these hooks. */
async function withHooks(hooks: string, config: object = CONFIG, env = {}): Promise<HookGateway> {
  const project = createProject({
    'switchboard.config.mjs': `${hooks}\nexport default ${JSON.stringify(config)};\n`,
  });
  const client = startClient({
    cwd: project.dir,
    env: { SWITCHBOARD_STATE_DIR: project.path('.state'), XDG_CONFIG_HOME: project.path('.config'), ...env },
  });
  await client.initialize();
  return { client, project, echo: (text, more) => client.call('flat__echo', { text, ...more }) };
}

const textOf = ({ result }: RpcMessage): string => result.content[0].text;

describe('what hooks can do', () => {
  test('they see and change arguments and results, whatever shows the tool', async () => {
    const { client } = await withHooks(`
      export const beforeCall = ({ server, tool, arguments: args, client }) =>
        ({ arguments: { ...args, text: [server, tool, client, args.text].join(' ') } });
      export async function afterCall({ tool, arguments: args, result }) {
        console.log('seen', tool);
        return { result: { ...result, content: [{ type: 'text', text: '<' + result.content[0].text + '>' }] } };
      }`);
    const answers = await Promise.all([
      client.call('flat__echo', { text: 'one' }),
      client.call('suite_suite', { action: 'call', subtool: 'echo', args: { text: 'two' } }),
      client.call('suite_suite', { action: 'call', subtool: 'echo', args: '{"text":"three"}' }),
      client.call('both', { server: 'suite', tool: 'echo', args: { text: 'four' } }),
    ]);
    expect(answers.map(textOf)).toEqual([
      '<flat echo raw-client one>',
      '<suite echo raw-client two>',
      '<suite echo raw-client three>',
      '<suite echo raw-client four>',
    ]);
    // What it prints is no message.
    await client.waitForStderr(/\[hooks\] seen echo/);
    expect(client.problems).toEqual([]);
  });

  test('they refuse calls and withhold results, with their reason', async () => {
    const { echo } = await withHooks(`
      export const beforeCall = ({ arguments: { text } }) => (text === 'no' ? { refuse: 'not on Fridays' } : undefined);
      export const afterCall = ({ result }) => (result.content[0].text === 'secret' ? { refuse: 'it is secret' } : null);`);
    expect(textOf(await echo('fine'))).toBe('fine');
    const refused = await echo('no');
    expect([refused.result.isError, textOf(refused)]).toEqual([
      true,
      expect.stringContaining('not on Fridays'),
    ]);
    const withheld = await echo('secret');
    expect([withheld.result.isError, textOf(withheld)]).toEqual([
      true,
      expect.stringContaining('it is secret'),
    ]);
  });

  test('a call without arguments, and the command line, are seen too', async () => {
    const { client, project } = await withHooks(
      `export const beforeCall = ({ arguments: args }) => ({ arguments: { text: 'added to ' + JSON.stringify(args) } });`,
    );
    expect(textOf(await client.request('tools/call', { name: 'flat__echo' }))).toBe('added to {}');
    const { stdout } = await runCli(project, ['call', 'flat', 'echo', 'text=x']);
    expect(stdout.trim()).toBe('added to {"text":"x"}');
  });

  test('a reload brings other hooks, and takes them away', async () => {
    const { project, echo } = await withHooks(`export const beforeCall = () => ({ refuse: 'first' });`);
    expect(textOf(await echo('x'))).toContain('first');
    const write = async (hooks: string): Promise<void> => {
      project.write('switchboard.config.mjs', `${hooks}\nexport default ${JSON.stringify(CONFIG)};\n`);
      const { code, stderr } = await runCli(project, ['reload'], {
        env: { XDG_CONFIG_HOME: project.path('.config') },
      });
      expect(code, stderr).toBe(0);
    };
    await write(`export const beforeCall = () => ({ refuse: 'second' });`);
    await expect.poll(async () => textOf(await echo('x')), { timeout: 10_000 }).toContain('second');
    await write('');
    await expect.poll(async () => textOf(await echo('x')), { timeout: 10_000 }).toBe('x');
  });

  test("a model's own calls of tools are seen, as well as the question to it", async () => {
    const model = await startAnthropicServer([
      { calls: [{ name: 'echo', input: { text: 'from the model' } }] },
      'done',
    ]);
    onTestFinished(() => model.close());
    const language = {
      provider: 'anthropic',
      model: 'claude-scripted',
      baseUrl: model.url,
      apiKey: 'sk-test',
    };
    const { client } = await withHooks(
      `export const beforeCall = ({ tool, arguments: args }) => {
        console.error('hook saw', tool, JSON.stringify(args));
        return tool === 'echo' ? { refuse: 'no echo for models' } : undefined;
      };`,
      { timeouts: CONFIG.timeouts, mcpServers: { nl: { ...nodeServer('echo'), language } } },
    );
    await client.call('nl_suite', { action: 'call', subtool: 'natural_language', args: { query: 'say it' } });
    expect(client.stderr).toContain('hook saw natural_language');
    expect(client.stderr).toContain('hook saw echo {"text":"from the model"}');
    expect(JSON.stringify(model.requests[1]!.body)).toContain('no echo for models');
  });
});

const BAD_BEFORE: [string, string, RegExp][] = [
  ['throws', `throw new Error('broken on purpose')`, /broken on purpose/],
  ['rejects with nothing', `return Promise.reject()`, /undefined/],
  ['throws what has no text', `throw { toString() { throw 1 } }`, /failed/],
  ['never comes back', `return new Promise(() => {})`, /longer than 1.5 seconds/],
  ['loops for ever', `for (;;) {}`, /longer than 1.5 seconds|endless loop/],
  ['ends its process', `process.exit(0)`, /ended/],
  [
    'takes all memory',
    `const all = []; for (;;) all.push(new Array(1e6).fill('x'))`,
    /memory|longer|ended|loop/,
  ],
  ['returns a text', `return 'yes'`, /must return nothing, \{"arguments"/],
  ['returns true', `return true`, /must return nothing, \{"arguments"/],
  ['returns a function', `return () => 1`, /returned a function/],
  ['returns a list', `return []`, /must return nothing, \{"arguments"/],
  ['returns other members', `return { allow: true }`, /must return nothing, \{"arguments"/],
  ['refuses without words', `return { refuse: true }`, /must return nothing, \{"arguments"/],
  ['returns arguments that are none', `return { arguments: [1] }`, /must return nothing, \{"arguments"/],
  ['returns itself', `const a = {}; a.arguments = a; return a`, /circular/],
  [
    'returns what is too long',
    `return { arguments: { text: 'x'.repeat(17e6) } }`,
    /more than 16 MB|longer than/,
  ],
  ['returns a big number', `return { arguments: { a: 10n } }`, /BigInt/],
];

const BAD_AFTER: [string, string, RegExp][] = [
  ['throws', `throw new Error('broken on purpose')`, /broken on purpose/],
  ['returns content that is no list', `return { result: { content: 'x' } }`, /must return nothing/],
  ['returns a number', `return { result: 7 }`, /must return nothing/],
  ['loops for ever', `for (;;) {}`, /longer than 1.5 seconds|endless loop/],
];

const casesOf = (bad: typeof BAD_AFTER): string =>
  bad.map(([what, body]) => `case ${JSON.stringify(what)}: { ${body} }`).join('\n');

describe('a hook that', () => {
  test('throws, hangs or lies costs the call and nothing else', async () => {
    const { client, echo } = await withHooks(
      `export const beforeCall = ({ arguments: { text } }) => { switch (text) { ${casesOf(BAD_BEFORE)} } };`,
    );
    for (const [what, , why] of BAD_BEFORE) {
      // The thread runs, so that the limit is about the hook alone.
      await expect.poll(async () => textOf(await echo('good')), { timeout: 10_000 }).toBe('good');
      const answer = await echo(what);
      expect(answer.result.isError, what).toBe(true);
      expect(textOf(answer), what).toMatch(why);
      expect(textOf(answer), what).toContain('switchboard.config.mjs');
    }
    expect(client.problems).toEqual([]);
  }, 60_000);

  test('throws, hangs or lies about a result withholds it', async () => {
    const { echo } = await withHooks(
      `export const afterCall = ({ arguments: { which }, result }) => { switch (which) { ${casesOf(BAD_AFTER)} } };`,
    );
    for (const [what, , why] of BAD_AFTER) {
      await expect.poll(async () => textOf(await echo('good')), { timeout: 10_000 }).toBe('good');
      const answer = await echo('private words', { which: what });
      expect(answer.result.isError, what).toBe(true);
      expect(textOf(answer), what).toMatch(why);
      expect(JSON.stringify(answer), what).not.toContain('private words');
    }
  }, 60_000);

  test('is no function keeps the configuration from being used', async () => {
    const project: Project = createProject({
      'switchboard.config.mjs': `export const beforeCall = 'allow'; export default ${JSON.stringify(CONFIG)};`,
    });
    const { code, stderr } = await runCli(project, ['list']);
    expect([code, stderr]).toEqual([78, expect.stringContaining('beforeCall is not a function')]);
  });
});
