import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../shared/log.ts';
import { clearLearned, LearnedFile, learnedFile } from './learned-file.ts';
import { LearnedUse } from './learned-use.ts';
import { RecentSearches } from './recent-searches.ts';

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function stateDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-test-'));
  directories.push(directory);
  return directory;
}

test('a tool rises with each use, and only for words it was used for', () => {
  const learned = LearnedUse.empty();
  const sureness = (...words: string[]) => learned.usedFor(words).get('a.b') ?? 0;
  learned.learn('a.b', ['jot', 'note']);
  const once = sureness('jot');
  learned.learn('a.b', ['jot']);
  expect(once).toBeGreaterThan(0);
  expect(sureness('jot')).toBeGreaterThan(once);
  expect(sureness('jot', 'other')).toBeLessThan(sureness('jot'));
  expect(sureness('other')).toBe(0);
  for (let use = 0; use < 100; use++) learned.learn('a.b', ['jot']);
  expect(sureness('jot')).toBe(1);
});

test('what was learned is limited in size, and contains only plain words', () => {
  const learned = LearnedUse.empty();
  learned.learn('a.b', ['ghp_secret', 'x1', '4711', 'müller', 'averyveryverylongword', 'plain']);
  expect(learned.print()).toBe('{"version":1,"tools":{"a.b":{"plain":1}}}\n');
  const words = Array.from(
    { length: 100 },
    (_, at) => `w${String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26))}`,
  );
  for (let tool = 0; tool < 1000; tool++) learned.learn(`s.t${tool}`, words);
  expect(learned.size).toBe(400);
  expect(learned.print().length).toBeLessThan(200_000);
});

test('a damaged file counts as knowing nothing', () => {
  for (const text of [
    '',
    '{',
    '[]',
    '{"version":2,"tools":{"a.b":{"x":1}}}',
    '{"version":1,"tools":{"a.b":[1],"c":{"UP":1,"x":-1,"__proto__":3}}}',
  ])
    expect(LearnedUse.read(text).size).toBe(0);
});

test('two programs write one file, and what was cleared stays so', () => {
  const directory = stateDirectory();
  const file = learnedFile(directory);
  const [one, two] = [new LearnedFile(file, silentLogger), new LearnedFile(file, silentLogger)];
  one.learn('a.b', ['note']);
  two.learn('c.d', ['note']);
  one.save();
  two.save();
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).tools)).toEqual(['a.b', 'c.d']);
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(clearLearned(file)).toBe(2);
  expect(clearLearned(file)).toBe(0);
  one.learn('e.f', ['note']);
  one.save();
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).tools)).toEqual(['e.f']);
  writeFileSync(file, 'damaged');
  one.learn('g.h', ['note']);
  one.save();
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).tools)).toEqual(['g.h']);
});

test('a use is connected with the search that found the tool, and with the one before that failed', () => {
  const recent = new RecentSearches();
  const client = {};
  const search = (words: string[], ...found: string[]) =>
    recent.add(client, [{ words, found: new Set(found) }]);
  search(['jot'], 'x.y');
  search(['note'], 'a.b', 'c.d');
  expect(recent.take({}, 'a.b')).toEqual([]);
  expect(recent.take(client, 'nobody.found')).toEqual([]);
  expect(recent.take(client, 'a.b')).toEqual([['note'], ['jot']]);
  expect(recent.take(client, 'a.b')).toEqual([]);
});
