/** Real files of hosts: golden/<host>/<case>.before.txt with our entry added is in .after.txt. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HOSTS } from './catalog.ts';
import { TextFault } from './container.ts';
import { removeEntry, upsertEntry } from './edit.ts';
import { programEntry } from './build-entry.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const UNIX = {
  command: '/usr/local/bin/node',
  args: ['/usr/local/lib/node_modules/mcp-switchboard/dist/index.js'],
  variables: ['API_TOKEN', 'EDITOR'],
};

/** With the paths, line endings and byte order mark of Windows. */
const WINDOWS = {
  ...UNIX,
  command: 'C:\\Program Files\\nodejs\\node.exe',
  args: ['C:\\Users\\ada\\AppData\\Roaming\\npm\\node_modules\\mcp-switchboard\\dist\\index.js'],
};

describe.each(HOSTS)('$title', (host) => {
  const folder = join(GOLDEN, host.name);
  const files = readdirSync(folder);
  const cases = files
    .filter((file) => file.endsWith('.before.txt'))
    .map((file) => file.replace('.before.txt', ''));
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

  test('has the cases that every host has', () => {
    expect(cases).toEqual(
      expect.arrayContaining(['empty', 'comments', 'other-servers', 'trailing-commas', 'broken', 'windows']),
    );
  });

  test.each(cases)('%s', (name) => {
    const entry = programEntry(host, name === 'windows' ? WINDOWS : UNIX);
    const before = read(`${name}.before.txt`);
    if (files.includes(`${name}.error.txt`)) {
      const edit = (): unknown => upsertEntry(before, host, 'switchboard', { entry });
      expect(edit).toThrow(TextFault);
      expect(edit).toThrow(read(`${name}.error.txt`).trim());
      return;
    }
    const allow = true;
    const { text, action } = upsertEntry(before, host, 'switchboard', { entry, allow });
    expect(text).toBe(read(`${name}.after.txt`));
    expect(action).toBe(name === 'update' ? 'updated' : 'added');
    expect(upsertEntry(text, host, 'switchboard', { entry, allow })).toEqual({ text, action: 'unchanged' });
    const removed = removeEntry(text, host, 'switchboard', { earlier: [before], allow }).text;
    if (name !== 'update' && name !== 'tools-only') expect(removed).toBe(before);
    // Works without a backup of the original text, too.
    if (name.startsWith('allow-list'))
      expect(removeEntry(text, host, 'switchboard', { allow }).text).toBe(before);
    expect(removeEntry(removed, host, 'switchboard').action).toBe('absent');
  });
});
