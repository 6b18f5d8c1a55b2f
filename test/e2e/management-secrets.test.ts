/** No log and no answer shows the environment of a server or redacted arguments. */
import { describe, expect, test } from 'vitest';
import { failed, startManagedClient } from '../helpers/management.ts';
import { responseText, textOf, type RawClient } from '../helpers/raw-client.ts';
import { nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const SECRET = 'value-that-nobody-sees';
const DEBUG = { SWITCHBOARD_LOG_LEVEL: 'debug' };

/** Everything the client was sent and everything that was written to stderr, when nothing more can come. */
async function everythingTold(client: RawClient): Promise<string> {
  await client.close();
  return client.lines.map(({ text }) => text).join('\n') + client.stderr;
}

describe('secrets', () => {
  test('what add_server is given as environment is in no log, not even where arguments are logged', async () => {
    const { client, added, add } = await startManagedClient(
      {},
      { config: { logArguments: true }, env: DEBUG },
    );
    await added('one', { ...nodeServer('echo'), env: { TOKEN: SECRET } });
    // Refused and failed ones are calls as well.
    await add('one', { ...nodeServer('echo'), env: { TOKEN: SECRET } });
    await add('two', { ...nodeServer('echo'), env: { TOKEN: SECRET }, envv: { TOKEN: SECRET } });
    await add('three', { command: 'no-such-program-anywhere', env: { TOKEN: SECRET } });
    // The arguments of others are there, so this is the log that would have had it.
    await client.call('one__echo', { text: 'plain to see' });
    await client.waitForStderr(/plain to see/);
    expect(await everythingTold(client)).not.toContain(SECRET);
  });

  test('which arguments are logged, and whether any are, follows the configuration that was read last', async () => {
    const server = nodeServer('echo', '--tools=echo,pid');
    const gateway = await startManagedClient({ a: server }, { config: { logArguments: true }, env: DEBUG });
    const { client } = gateway;
    await gateway.serverOnce('a', 'running');
    const echo = async (text: string): Promise<void> => {
      expect(textOf(await client.call('a__echo', { text }))).toBe(text);
    };
    await until(async () => (await gateway.tools()).includes('a__echo'), { what: 'its tools' });
    await echo('shown at first');
    await client.waitForStderr(/shown at first/);
    const discreet = { a: { ...server, tools: { echo: { redact: ['text'] } } } };
    await gateway.reconfigure(discreet);
    await echo('redacted later');
    await client.waitForStderr(/\[redacted\]/);
    await gateway.reconfigure({ a: server });
    await echo('shown again');
    await client.waitForStderr(/shown again/);
    await gateway.reconfigure({ a: server }, { logArguments: false });
    await echo('never logged');
    await client.close();
    expect(client.stderr).not.toContain('redacted later');
    expect(client.stderr).not.toContain('never logged');
  });

  const OWN = 'given-by-the-definition';
  const INHERITED = 'inherited-from-the-gateway';
  const leaky = (project: Project) => ({
    command: process.execPath,
    args: [project.path('leaky.mjs')],
    env: { PLAIN_NAME: OWN },
  });
  const LEAKY = `process.stderr.write(\`refused \${process.env.PLAIN_NAME} and \${process.env.X_TOKEN} here\\n\`);
process.exitCode = 3;
`;

  test('a server that dies saying its environment is quoted without the values', async () => {
    const gateway = await startManagedClient(
      {},
      { env: { ...DEBUG, X_TOKEN: INHERITED }, files: { 'leaky.mjs': LEAKY } },
    );
    const { client, project } = gateway;
    const answer = await gateway.add('added', leaky(project));
    expect(failed(answer)).toBe(true);
    expect(responseText(answer)).toContain('refused *** and *** here');
    await gateway.reconfigure({
      flat: leaky(project),
      boxed: { ...leaky(project), exposure: 'suite' },
    });
    const { error } = await gateway.serverOnce('flat', 'crashed');
    expect(error).toContain('refused *** and *** here');
    const called = await client.call('boxed_suite', { action: 'call', subtool: 'x', args: {} });
    expect(responseText(called)).toContain('refused *** and *** here');
    expect((await gateway.serverOnce('boxed', 'crashed')).error).toContain('***');
    expect(responseText(await gateway.reload('flat'))).toContain('refused *** and *** here');
    const told = await everythingTold(client);
    expect(client.stderr).toContain('refused *** and *** here');
    expect(told).not.toContain(OWN);
    expect(told).not.toContain(INHERITED);
  });
});
