import { expect, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { loadConfig } from '../../../config/index.ts';
import { hiddenBy } from './probe-servers.ts';

test.each([
  [{ expose: { allow: ['a*'] } }, 'expose.allow'],
  [{ expose: { allow: [] } }, 'expose.allow'],
  [{ expose: { deny: ['tool'] } }, 'expose.deny'],
  [{ exposedTools: ['other'] }, 'exposedTools'],
  [{ exposedTools: [{ original: 'other', exposed: 'tool' }] }, 'exposedTools'],
  [{ hiddenTools: ['t?ol'] }, 'hiddenTools'],
  [{ exposedTools: ['tool'], hiddenTools: ['tool'] }, 'hiddenTools'],
])('with %j a tool is hidden by %s', async (says, setting) => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { hiddenTools: { command: 'x', ...says } } },
  });
  const { servers } = await loadConfig({ cwd: project.dir, env: {} });
  expect(hiddenBy('tool', servers[0]!.tools)).toBe(setting);
});
