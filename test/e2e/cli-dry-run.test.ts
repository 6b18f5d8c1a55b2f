/** `switchboard dry-run`: what hosts see, and how many tokens it costs. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { estimateTokens } from '../../src/shared/tokens.ts';
import { startClient, type Json } from '../helpers/raw-client.ts';
import { CRASH, GONE, mixedProject, runCli, stateOf } from '../helpers/run-cli.ts';
import { createProject, nodeServer, npmServer } from '../helpers/temp-project.ts';

describe('dry-run', () => {
  test('lists subtools, marks hidden ones, counts tokens; a failure affects no other server', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: {
          echo: { ...nodeServer('echo'), expose: { allow: ['add', 'b*', 'renamed_tool'], deny: ['big'] } },
          gone: GONE,
          crash: CRASH,
        },
      },
    });
    const { code, stdout, stderr } = await runCli(project, ['--dry-run']);
    expect(code).toBe(1);
    expect(stdout).toContain('echo → echo_suite');
    expect(stdout).toMatch(/^ {4}add +Adds two numbers\.$/m);
    expect(stdout).toMatch(/^ {2}- big +hidden by expose\.deny$/m);
    expect(stdout).toMatch(/^ {2}- echo +hidden by expose\.allow$/m);
    const where = `${project.path('switchboard.config.json')}: mcpServers.echo.expose.allow[2]`;
    expect(stdout).toContain(`  ! ${where}: "renamed_tool" does not match any tool of this server.`);
    expect(stdout).toContain('failed: "gone" could not be started');
    expect(stdout).toMatch(/^echo +13 +≈ \d+ +≈ \d+ +[\d.]+% +≈ \d+$/m);
    expect(stderr).toContain('[crash] crash line 1\n');

    const { json } = await runCli(project, ['dry-run', 'echo', '--json']);
    expect(json.servers).toHaveLength(1);
    expect(json.servers[0]).toMatchObject({
      name: 'echo',
      suite: 'echo_suite',
      ok: true,
      unmatched: [expect.objectContaining({ key: 'mcpServers.echo.expose.allow[2]' })],
    });
    expect(json.servers[0].tools.find((tool: Json) => tool.name === 'big')).toMatchObject({
      hidden: true,
      hiddenBy: 'expose.deny',
    });
    expect(json.tokens.savedPercent).toBeGreaterThan(50);
  });

  test('the estimate is within a tenth of a real tokenizer, for three real servers', async () => {
    const project = createProject();
    const mcpServers: Record<string, ReturnType<typeof npmServer>> = {
      everything: npmServer('everything'),
      filesystem: npmServer('filesystem', project.dir),
      memory: npmServer('memory'),
    };
    project.write('switchboard.config.json', { mcpServers });
    const instructionsOf = async (name: string): Promise<string> => {
      const client = startClient({ ...mcpServers[name]!, cwd: project.dir });
      const { result } = await client.initialize();
      await client.close();
      return result.instructions ?? '';
    };
    const { code, json } = await runCli(project, ['--dry-run', '--json']);
    expect(code).toBe(0);
    const offered = (await runCli(project, ['tools', '--json'])).json;
    const exactly = { flat: 0 };
    for (const [at, server] of offered.servers.entries()) {
      const flat = server.tools
        .map(({ definition: { name, description, inputSchema } }: Json) =>
          JSON.stringify({ name, description, inputSchema }),
        )
        .join('\n');
      const exact = encode(flat).length + encode(await instructionsOf(server.name)).length;
      exactly.flat += exact;
      expect(Math.abs(json.servers[at].tokens.flat / exact - 1), server.name).toBeLessThan(0.1);
    }
    expect(Math.abs(json.tokens.flat / exactly.flat - 1)).toBeLessThan(0.1);
    expect(json.tokens.savedPercent).toBeGreaterThan(85);
  });

  test('shows what hosts see of every kind of server, and counts exactly what they are sent', async () => {
    const project = mixedProject();
    const { code, stdout, stderr } = await runCli(project, ['--dry-run']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^suite → my_suite {2}13 subtools, \d+ ms, from switchboard\.config\.json$/m);
    expect(stdout).toMatch(/^ {4}plus +One more than b\. \(add\)$/m);
    expect(stdout).toMatch(
      /^flat → flat \(flat__\*\) {2}13 tools, 1 hidden, \d+ ms, from switchboard\.config\.json$/m,
    );
    expect(stdout).toMatch(/^ {4}flat__add +Adds two numbers\.$/m);
    expect(stdout).toMatch(/^ {2}- big +hidden by hiddenTools$/m);
    expect(stdout).toContain('mcpServers.flat.hiddenTools[1]: "biig" does not match any tool');
    expect(stdout).toMatch(/^hidden → hidden .*\n {2}- echo +not exposed to hosts$/m);
    expect(stdout).toContain(
      'compound tools\n  both  hidden/echo, flat/add, flat/slow_eco\n    ! the server "flat" has no tool "slow_eco". Did you mean "slow_echo"?\n',
    );
    const { json } = await runCli(project, ['--dry-run', '--json']);
    const [own] = (await runCli(project, ['tools', 'suite', '--json'])).json.servers;
    const client = startClient({ cwd: project.dir, env: { SWITCHBOARD_STATE_DIR: stateOf(project) } });
    const greeting = await client.initialize();
    const sent = await client.listTools();
    await client.close();
    const cost = (tools: Json[]) =>
      estimateTokens(
        tools
          .map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
          .join('\n'),
      );
    const alone = cost(own.tools.map((tool: Json) => tool.definition));
    const of = (prefix: string) => cost(sent.filter((tool) => tool.name.startsWith(prefix)));
    expect(json.servers.map((server: Json) => server.tokens.flat)).toEqual([alone, alone, alone, alone]);
    expect(json.servers.map((server: Json) => server.tokens.listed)).toEqual([
      of('my_suite'),
      of('flat__'),
      0,
      0,
    ]);
    expect(json.servers.map((server: Json) => server.tokens.introspect > 0)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(json.compounds[0]).toMatchObject({ name: 'both', tokens: { flat: 0, listed: of('both') } });
    const { tokens: instructions } = json.instructions;
    expect(instructions).toBe(estimateTokens(greeting.result.instructions));
    expect(json.tokens).toMatchObject({
      flat: 4 * alone,
      listed: of('my_suite') + of('flat__') + of('both') + Number(instructions),
    });
    expect(stdout).toMatch(/^instructions +≈ \d+$/m);
  });

  test('counts the instructions of servers, and says which suite is cheaper flat', async () => {
    const small = nodeServer('echo', '--tools=pid');
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: {
          small,
          wordy: nodeServer('echo', '--tools=pid', `--instructions=${'Many words. '.repeat(100)}`),
          flat: { ...small, exposure: 'flat' },
        },
      },
    });
    const { json } = await runCli(project, ['--dry-run', '--json']);
    const [first, wordy, flat] = json.servers;
    expect(first.tokensWhenFlat).toBeLessThan(first.tokens.listed);
    expect(wordy.tokens.flat - first.tokens.flat).toBeGreaterThan(250);
    expect([wordy, flat].map((server) => server.tokensWhenFlat)).toEqual([undefined, undefined]);
    const { stdout } = await runCli(project, ['--dry-run']);
    const advice = stdout.match(/expose it flat \("exposure": "flat"\): ≈ (\d+) tokens instead of ≈ (\d+)/g);
    expect(advice).toHaveLength(1);
  });

  test('without any server it says what to do', async () => {
    const { code, stdout } = await runCli(createProject(), ['--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain('switchboard init');
  });
});
