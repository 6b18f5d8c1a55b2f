import { expect, test } from 'vitest';
import { isOutdated } from './release.ts';

const ours = { version: '1.10.2', build: 'b' };

test.each([
  ['1.9.9', true],
  ['1.10.1', true],
  ['0.30.0', true],
  ['1.10.2', false],
  ['1.10.10', false],
  ['2.0.0', false],
  // A daemon from before versions were recorded, and one whose record was lost.
  [undefined, true],
  [null, false],
])('a daemon of version %s is outdated: %s', (version, outdated) => {
  expect(isOutdated({ build: 'b', ...(version === undefined ? {} : { version }) }, ours)).toBe(outdated);
});

test('so is one of another build of the same version, but not of a newer one', () => {
  expect(isOutdated({ version: '1.10.2', build: 'a' }, ours)).toBe(true);
  expect(isOutdated({ version: '1.10.2-beta.1', build: 'a' }, ours)).toBe(true);
  expect(isOutdated({ version: '1.11.0', build: 'a' }, ours)).toBe(false);
});
