import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { loadConfig } from './load.ts';
import { describeWarning } from './problem.ts';

async function warningsOf(config: object | string): Promise<string[]> {
  const project = createProject({ 'switchboard.config.json': config });
  const { warnings } = await loadConfig({ cwd: project.dir, env: {} });
  return warnings
    .filter(({ level }) => level === 'warn')
    .map((warning) => describeWarning(warning).replaceAll(project.path('/'), ''));
}

const x = { command: 'x' };

test('two suites of one name are a warning that names both', async () => {
  expect(await warningsOf({ mcpServers: { a: { ...x, suiteName: 'b_suite' }, b: x } })).toEqual([
    'switchboard.config.json: mcpServers.b: the suite of "b" has the same tool name as the suite of "a" in ' +
      'switchboard.config.json (mcpServers.a): "b_suite". Rename one of them',
  ]);
});

test('so is a suite that is called as a compound tool, or a renamed tool as another server\u2019s', async () => {
  const subtools = { a: { tools: [{ name: 't' }] } };
  expect(
    await warningsOf({ mcpServers: { a: x }, tools: { a_suite: { description: 'd', subtools } } }),
  ).toEqual([
    expect.stringContaining('the suite of "a" has the same tool name as the compound tool "a_suite"'),
  ]);
  const flat = { ...x, exposure: 'flat', tools: { t: { name: 'go' } } };
  expect(await warningsOf({ naming: 'plain', mcpServers: { a: flat, b: flat } })).toEqual([
    expect.stringContaining('the tool "t" of "b" has the same tool name as the tool "t" of "a"'),
  ]);
  expect(await warningsOf({ mcpServers: { a: flat, b: flat } })).toEqual([]);
});

test.each(['', '// with a comment\n'])(
  'two servers of one name in a file are a warning with both lines (%j)',
  async (comment) => {
    const text = `${comment}{"mcpServers": {\n"a": {"command": "x"},\n"b": {"command": "x"},\n"a": {"command": "y"}}}`;
    const first = comment === '' ? 2 : 3;
    expect(await warningsOf(text)).toEqual([
      `switchboard.config.json: mcpServers.a: appears twice, on lines ${first} and ${first + 2}; the last one is used`,
    ]);
  },
);
