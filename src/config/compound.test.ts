import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { describeWarning, loadConfig } from './index.ts';

const echo = { command: 'echo' };
const part = { tools: [{ name: 't' }] };

test('a compound tool keeps the order of its servers and tools, and says where it is written', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { github: echo, jira: echo },
      tools: {
        'issue-search': {
          description: 'Finds issues.',
          subtools: {
            jira: { tools: [{ name: 'search' }, { name: 'get', description: 'One issue.' }] },
            github: { tools: [{ name: 'search_issues' }] },
          },
        },
      },
    },
  });
  const { compounds, warnings } = await loadConfig({ cwd: project.dir, env: {} });
  expect(warnings).toEqual([]);
  expect(compounds).toEqual([
    {
      name: 'issue-search',
      description: 'Finds issues.',
      subtools: [
        { server: 'jira', tools: [{ name: 'search' }, { name: 'get', description: 'One issue.' }] },
        { server: 'github', tools: [{ name: 'search_issues' }] },
      ],
      origin: { file: project.path('switchboard.config.json'), key: 'tools.issue-search' },
    },
  ]);
});

test('a server that is not there is pointed out, and why; the tool stays', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        github: echo,
        off: { ...echo, disabled: true },
        unset: { command: '${MISSING}' },
        remote: { url: 'http://x/${MISSING}' },
      },
      tools: {
        all: {
          description: '',
          subtools: {
            gihtub: part,
            elsewhere: part,
            off: part,
            unset: part,
            remote: part,
            found: part,
            constructor: part,
          },
        },
      },
    },
    'mcps/found/.mcp.json': { name: 'found', command: 'echo' },
  });
  const { compounds, warnings } = await loadConfig({ cwd: project.dir, env: {} });
  const start = `${project.path('switchboard.config.json')}: tools.all.subtools.`;
  const said = warnings.map((warning) => `${warning.level} ${describeWarning(warning)}`);
  expect(said.filter((line) => line.includes(start)).map((line) => line.replace(start, ''))).toEqual([
    'warn gihtub: unknown server; its tools are left out. Did you mean "github"?',
    'warn elsewhere: unknown server; its tools are left out.',
    'warn off: this server is disabled; its tools are left out',
    'warn unset: this server is not available; its tools are left out',
    'warn remote: this server is not available; its tools are left out',
    'warn constructor: unknown server; its tools are left out.',
  ]);
  expect(compounds[0]?.subtools).toHaveLength(7);
});

test('names of object members are names like any other', async () => {
  const project = createProject({
    'switchboard.config.json':
      '{"mcpServers": {"__proto__": {"command": "x"}}, "tools": {"__proto__": {"description": "d", ' +
      '"subtools": {"__proto__": {"tools": [{"name": "__proto__"}]}}}}}',
  });
  const { compounds, warnings } = await loadConfig({ cwd: project.dir, env: {} });
  expect(warnings).toEqual([]);
  expect(compounds).toMatchObject([
    { name: '__proto__', subtools: [{ server: '__proto__', tools: [{ name: '__proto__' }] }] },
  ]);
});
