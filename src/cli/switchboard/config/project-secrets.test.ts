import { expect, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { loadConfig } from '../../../config/index.ts';
import { projectSecrets, secretWarning } from './project-secrets.ts';

test('finds secrets in the files of a project, names their keys, and leaves the own file alone', async () => {
  const server = (value: string) => ({ command: 's', env: { API_KEY: value, LEVEL: 'debug' } });
  const project = createProject({
    'work/switchboard.config.json': {
      mcpServers: {
        open: server('a-literal-key'),
        closed: server('${API_KEY}'),
        flag: { command: 's', args: ['--token', 'abc'] },
        odd: { command: 7 },
      },
    },
    'work/.mcp.json': { mcpServers: { found: { url: 'https://a.example/mcp?token=abc123' } } },
    'user/switchboard.config.json': { mcpServers: { own: server('mine') } },
  });
  const config = await loadConfig({
    cwd: project.path('work'),
    env: { API_KEY: 'x' },
    userDirectory: project.path('user'),
  });
  const secrets = projectSecrets(config);
  expect(secrets.map(({ server: name, where }) => [name, where])).toEqual([
    ['open', 'env.API_KEY'],
    ['flag', 'args[1]'],
    ['found', 'url'],
  ]);
  const warning = secretWarning(secrets[0]!, 'switchboard');
  for (const text of ['env.API_KEY', '"${API_KEY}"', project.path('work/switchboard.config.json'), '--user'])
    expect(warning).toContain(text);
  expect(warning).not.toContain('a-literal-key');
});
