import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { allBackups, backupPath, keptTexts, pruneBackups } from './backups.ts';

function directory(): string {
  const made = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'switchboard-backups-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}
const DAY = 24 * 60 * 60 * 1000;
const now = Date.parse('2026-11-16T12:00:00.000Z');

test('texts are kept by file, the last five of each, and none for longer than 90 days', () => {
  const state = directory();
  const keep = (file: string, days: number, text: string): void =>
    fs.writeFileSync(backupPath(state, file, now - days * DAY), text);
  for (const days of [100, 6, 5, 4, 3, 2, 1]) keep('/home/ada/.cursor/mcp.json', days, `${days} days`);
  keep('/home/ada/old/mcp.json', 91, 'too old');
  keep('/home/ada/other/mcp.json', 89, 'old');
  expect(keptTexts(state, '/home/ada/.cursor/mcp.json')).toHaveLength(7);
  pruneBackups(state, now);
  expect(keptTexts(state, '/home/ada/.cursor/mcp.json')).toEqual([1, 2, 3, 4, 5].map((d) => `${d} days`));
  expect(keptTexts(state, '/home/ada/old/mcp.json')).toEqual([]);
  const kept = allBackups(state);
  expect(kept.map(({ file }) => file)).toEqual([
    ...Array.from({ length: 5 }, () => '/home/ada/.cursor/mcp.json'),
    '/home/ada/other/mcp.json',
  ]);
  expect(kept[0]).toMatchObject({
    at: '2026-11-15T12:00:00.000Z',
    path: expect.stringMatching(/\.json$/) as string,
  });
});

test('two texts of the same moment do not replace each other', () => {
  const state = directory();
  const first = backupPath(state, '/f.json', now);
  fs.writeFileSync(first, 'a');
  expect(backupPath(state, '/f.json', now)).not.toBe(first);
});

test('a state directory that is not writable is an error', () => {
  const state = join(directory(), 'file');
  fs.writeFileSync(state, '');
  expect(() => backupPath(state, '/f.json')).toThrow('Cannot write to');
  expect(allBackups(state)).toEqual([]);
  pruneBackups(state);
});
