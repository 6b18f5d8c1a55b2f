import { expect, test } from 'vitest';
import type { ServerCandidate } from './candidate.ts';
import type { ConfigWarning } from './problem.ts';
import { resolveServers } from './resolve.ts';
import { applyDefaults } from './settings.ts';

test('on Windows only the entry of Switchyard is unusable, and says what to do', () => {
  const warnings: ConfigWarning[] = [];
  const candidate = (name: string, definition: ServerCandidate['definition']): ServerCandidate => ({
    ...{ name, file: '/p/a.json', path: ['mcpServers', name], directory: '/p', definition },
  });
  const candidates = [
    candidate('yard', { kind: 'builtin', server: { builtin: 'switchyard' } }),
    candidate('other', { kind: 'stdio', server: { command: 'node' } }),
  ];
  const options = { settings: applyDefaults({}), suiteFiles: new Map(), env: {}, ourScript: undefined };
  const resolve = (platform: NodeJS.Platform): ReturnType<typeof resolveServers> =>
    resolveServers(candidates, {
      ...{ ...options, warnings, platform },
      warn: (warning) => warnings.push(warning),
    });
  expect(resolve('darwin').unusable).toEqual([]);
  expect(warnings).toEqual([]);
  const { servers, unusable } = resolve('win32');
  expect(servers.map(({ name }) => name)).toEqual(['other']);
  expect(unusable).toMatchObject([
    {
      name: 'yard',
      reason: 'On Windows, Switchyard needs WSL',
      nextStep: 'Run it there: https://learn.microsoft.com/windows/wsl.',
    },
  ]);
  expect(warnings.map(({ key, message }) => `${key}: ${message}`)).toEqual([
    'mcpServers.yard: On Windows, Switchyard needs WSL. Run it there: ' +
      'https://learn.microsoft.com/windows/wsl; the server is not available',
  ]);
});
