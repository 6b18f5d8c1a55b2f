import { expect, test } from 'vitest';
import { hideSecrets, restoreSecrets } from './hidden-entry.ts';

const HIDDEN = '••••••••';
const ENTRY = {
  command: 'run',
  args: ['--port', '1', '--token', 'abc', '--key=${KEY}', '--api-key=def'],
  env: { A: 'one', B: '${B}', C: 7 },
  headers: { Authorization: 'Bearer ${TOKEN}', X: 'two' },
  oauth: {
    clientId: 'me',
    clientSecret: 'three',
    privateKey: 'four',
    assertion: 'five',
    identityProvider: { clientId: 'us', clientSecret: 'six' },
  },
};

test('secrets are hidden, references and everything else stay', () => {
  expect(hideSecrets(ENTRY)).toEqual({
    command: 'run',
    args: ['--port', '1', '--token', HIDDEN, '--key=${KEY}', HIDDEN],
    env: { A: HIDDEN, B: '${B}', C: HIDDEN },
    headers: { Authorization: 'Bearer ${TOKEN}', X: HIDDEN },
    oauth: {
      clientId: 'me',
      clientSecret: HIDDEN,
      privateKey: HIDDEN,
      assertion: HIDDEN,
      identityProvider: { clientId: 'us', clientSecret: HIDDEN },
    },
  });
});

test('values that stay hidden keep their original, whatever else changes', () => {
  const shown = hideSecrets(ENTRY) as typeof ENTRY;
  expect(restoreSecrets(shown, ENTRY)).toEqual(ENTRY);
  const changed = {
    ...shown,
    args: ['--verbose', ...shown.args],
    env: { ...shown.env, D: 'new' },
    description: 'more',
  };
  expect(restoreSecrets(changed, ENTRY)).toEqual({
    ...ENTRY,
    args: ['--verbose', ...ENTRY.args],
    env: { ...ENTRY.env, D: 'new' },
    description: 'more',
  });
  expect(restoreSecrets({ command: 'other' }, ENTRY)).toEqual({ command: 'other' });
});

test('a hidden secret that was moved is refused', () => {
  const shown = hideSecrets(ENTRY);
  expect(() => restoreSecrets({ ...shown, description: HIDDEN }, ENTRY)).toThrow('moved');
  expect(() => restoreSecrets({ ...shown, env: { NEW: HIDDEN } }, ENTRY)).toThrow('moved');
});
