import { expect, test } from 'vitest';
import type { ServerDefinition } from '../config/index.ts';
import { serverSecrets } from './server-secrets.ts';

const server = (more: object) =>
  ({ kind: 'stdio', args: [], env: {}, ...more }) as unknown as ServerDefinition;

test('never writes values whose names or formats suggest a secret', () => {
  const env = {
    API_TOKEN: 'hunter2',
    DATABASE_URL: 'postgres://me:pass@host/db',
    NOTES: '/home/me/notes-of-2026',
    MODE: 'production-like',
    LEVEL: 'debug',
  };
  expect(serverSecrets(server({ env }), { OTHER_PASSWORD: 'inherited', HOME: '/home/me' })).toEqual([
    'inherited',
    'hunter2',
    'postgres://me:pass@host/db',
  ]);
});

test('arguments behind a flag with a secret name are never written', () => {
  const args = ['-y', 'some-package', '--api-key=abcdef', '--token', 'ghijkl', '--port', '123456'];
  expect(serverSecrets(server({ args }), {})).toEqual(['abcdef', 'ghijkl']);
});
