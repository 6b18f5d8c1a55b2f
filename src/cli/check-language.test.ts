import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { loadConfig, type ServerDefinition } from '../config/index.ts';
import { resolveModel } from '../language/index.ts';
import { languageProblems, modelLine } from './check-language.ts';

async function looked(language: object | true, env: Record<string, string> = {}, files: object = {}) {
  const entry = { command: 'node', language };
  const project = createProject({ 'switchboard.config.json': { mcpServers: { s: entry } }, ...files });
  const server: ServerDefinition = (await loadConfig({ cwd: project.dir, env })).servers[0]!;
  const model = await resolveModel(server.language!, env);
  const problems = languageProblems(server, { exposure: 'suite', language: model });
  return { line: modelLine(model), problems, dir: project.dir };
}

test.each<[string, object | true, Record<string, string>, string]>([
  ['a key is set', true, { ANTHROPIC_API_KEY: 'sk-123456' }, 'claude-haiku-5-5 (anthropic)'],
  ['another one is named', { model: 'm', apiKey: 'k-123456' }, {}, 'm (openai)'],
  ['one runs on this machine', { model: 'm', baseUrl: 'http://localhost:1' }, {}, 'm (openai)'],
  ['there is no key', true, {}, "the client's own: the client must support sampling with tools"],
])('the model is told where %s', async (_, language, env, line) => {
  expect(await looked(language, env)).toMatchObject({ line, problems: [] });
});

test('a model without the key it needs is a problem, with what to set', async () => {
  const { line, problems } = await looked({ model: 'claude-opus-4-5' });
  expect(line).toBe('none');
  expect(problems).toEqual([
    { message: expect.stringContaining('No API key'), hint: expect.stringContaining('ANTHROPIC_API_KEY') },
  ]);
});

test('instructions that cannot be read are a problem', async () => {
  const env = { ANTHROPIC_API_KEY: 'sk-123456' };
  const language = { instructionsFile: 'CLAUDE.md' };
  const { problems, dir } = await looked(language, env);
  expect(problems).toEqual([
    {
      message: `cannot read the instructions of its model, ${dir}/CLAUDE.md`,
      hint: 'Create that file, or correct "instructionsFile".',
    },
  ]);
  expect((await looked(language, env, { 'CLAUDE.md': 'Be kind.' })).problems).toEqual([]);
});
