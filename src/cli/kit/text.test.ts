import { expect, test } from 'vitest';
import { shortPath } from './text.ts';

test.skipIf(process.platform === 'win32').each([
  ['in the working directory', '/home/me/code/app/x.json', 'x.json'],
  ['above it', '/home/me/code/x.json', '../x.json'],
  ['in the home directory', '/home/me/.config/y/x.json', '~/.config/y/x.json'],
  ['elsewhere', '/etc/x.json', '/etc/x.json'],
])('a file %s is shown by its shortest path', (_, file, expected) => {
  expect(shortPath(file, '/home/me/code/app', '/home/me')).toBe(expected);
});
