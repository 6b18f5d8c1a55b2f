import { expect, test } from 'vitest';
import { switchyardUnsupported } from './switchyard-platform.ts';

test('Switchyard says in one sentence that Windows needs WSL, and nothing elsewhere', () => {
  expect(switchyardUnsupported('win32')).toMatchObject({
    code: 'SWITCHYARD_UNSUPPORTED',
    explained: 'On Windows, Switchyard needs WSL. Run it there: https://learn.microsoft.com/windows/wsl',
  });
  for (const platform of ['linux', 'darwin', 'freebsd'] as const)
    expect(switchyardUnsupported(platform)).toBeUndefined();
});
