import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { describeWarning, loadConfig, type LoadedConfig } from './index.ts';

type Env = Record<string, string>;

async function load(files: Record<string, object>, env: Env = {}): Promise<LoadedConfig & { dir: string }> {
  const { dir } = createProject(files);
  return { ...(await loadConfig({ cwd: dir, env })), dir };
}

function own(language: unknown, env: Env = {}, rest: object = {}): ReturnType<typeof load> {
  const entry = { command: 'node', language, ...rest };
  return load({ 'switchboard.config.json': { mcpServers: { s: entry } } }, env);
}

function warningText({ warnings }: LoadedConfig): string {
  return warnings.map(describeWarning).join('\n');
}

const DEFAULT = { allowDestructive: false, maxSteps: 12, maxTokens: 100_000, timeoutMs: 180_000 };

describe('language', () => {
  test('as true is a model with every default', async () => {
    const config = await own(true);
    expect(config.warnings).toEqual([]);
    expect(config.servers[0]!.language).toEqual(DEFAULT);
  });

  test.each([[undefined], [false]])('as %s is no model', async (language) => {
    const [server] = (await own(language)).servers;
    expect(server).toBeDefined();
    expect(server!.language).toBeUndefined();
  });

  test('is filled in, with its file beside the configuration', async () => {
    const language = {
      model: '${MODEL}',
      provider: 'openai',
      baseUrl: 'http://${HOST:-localhost}:1234/v1',
      apiKey: '${KEY}',
      instructions: 'For ${WHOM}.',
      instructionsFile: '${FILE}',
      allowDestructive: true,
      maxSteps: 1,
      maxTokens: 2,
      timeoutMs: 3,
    };
    const env = { MODEL: 'llama', KEY: 's3cret', WHOM: 'me', FILE: 'docs/CLAUDE.md' };
    const { servers, warnings, dir } = await own(language, env);
    expect(warnings).toEqual([]);
    expect(servers[0]!.language).toEqual({
      model: 'llama',
      provider: 'openai',
      baseUrl: 'http://localhost:1234/v1',
      apiKey: 's3cret',
      instructions: 'For me.',
      instructionsFile: join(dir, 'docs/CLAUDE.md'),
      allowDestructive: true,
      maxSteps: 1,
      maxTokens: 2,
      timeoutMs: 3,
    });
  });

  test('treats an empty variable as not set', async () => {
    const [server] = (await own({ model: '${NONE:-}', baseUrl: '${NONE:-}', apiKey: '${NONE:-}' })).servers;
    expect(server!.language).toEqual(DEFAULT);
  });

  test('costs the server where a variable is not set, and says which', async () => {
    const config = await own({ apiKey: '${NOT_SET}' });
    expect(config.servers).toEqual([]);
    expect(warningText(config)).toMatch(/language\.apiKey.*NOT_SET/);
  });

  test('wants an address that is one once it is filled in', async () => {
    const config = await own({ baseUrl: '${URL}' }, { URL: 'localhost without a scheme' });
    expect(config.servers).toEqual([]);
    expect(warningText(config)).toMatch(/language\.baseUrl.*is not a valid URL/);
    expect(warningText(config)).not.toContain('without a scheme');
  });

  test.each<[string, unknown, RegExp]>([
    ['a number', 5, /language.*must be true, false or/],
    ['another provider', { provider: 'antropic' }, /did you mean "anthropic"\?/],
    ['an empty model', { model: ' ' }, /language\.model.*non-empty/],
    ['no step at all', { maxSteps: 0 }, /language\.maxSteps.*from 1 to 1000/],
    ['a wrong type', { allowDestructive: 'yes' }, /language\.allowDestructive.*true or false/],
    ['an address without http', { baseUrl: 'localhost:1' }, /language\.baseUrl.*starts with http/],
  ])('is refused with %s', async (_, language, message) => {
    const config = await own(language);
    expect(config.servers).toEqual([]);
    expect(warningText(config)).toMatch(message);
  });

  test('is for a server that is started or reached, not for a part of this program', async () => {
    const config = await load({
      'switchboard.config.json': { mcpServers: { s: { builtin: 'switchyard', language: true } } },
    });
    expect(warningText(config)).toMatch(/language: has no effect on a server with "builtin"/);
  });

  test.each<[string, Record<string, object>]>([
    [
      'a remote server',
      { 'switchboard.config.json': { mcpServers: { s: { url: 'http://x.test', language: true } } } },
    ],
    ['a map of servers', { '.mcp.json': { mcpServers: { s: { command: 'node', language: true } } } }],
    ['a file about one server', { 'mcps/s/.mcp.json': { name: 's', command: 'node', language: true } }],
    ['one about a remote one', { 'mcps/s/.mcp.json': { name: 's', url: 'http://x.test', language: true } }],
  ])('may stand in the definition of %s', async (_, files) => {
    const config = await load(files);
    expect(warningText(config)).toBe('');
    expect(config.servers[0]!.language).toEqual(DEFAULT);
  });

  test('lets a flat server be stopped when it is idle: its own tools are in no list', async () => {
    const idle = async (language: boolean): Promise<unknown> =>
      (await own(language, {}, { exposure: 'flat' })).servers[0]!.timeouts.idleMs;
    expect([await idle(false), await idle(true)]).toEqual(['never', 600_000]);
  });
});
