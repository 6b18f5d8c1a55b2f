import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createProject, type Project } from '../../test/helpers/temp-project.ts';
import { allowedFiles, allowFiles, keepApproval, denyFiles, ProjectApproval } from './project-approval.ts';

let place: Project;

beforeEach(() => {
  place = createProject({ 'a/switchboard.config.json': '{}', 'b/switchboard.config.json': '{}' });
  const before = process.env.SWITCHBOARD_STATE_DIR;
  process.env.SWITCHBOARD_STATE_DIR = place.path('state');
  onTestFinished(() => {
    process.env.SWITCHBOARD_STATE_DIR = before;
  });
});

function approval(patterns: readonly string[] = []): ProjectApproval {
  return new ProjectApproval({ allowProject: false, patterns });
}

test('a file is allowed at its place, with its content', async () => {
  const file = place.path('a/switchboard.config.json');
  const asked = approval();
  expect(asked.allows(file)).toBe(false);
  expect(asked.notAllowed).toMatchObject([{ path: file }]);
  await allowFiles(asked.notAllowed);
  expect(approval().allows(file)).toBe(true);
  expect(approval().allows(place.path('b/switchboard.config.json'))).toBe(false);
  place.write('a/switchboard.config.json', '{ }');
  expect(approval().allows(file)).toBe(false);
  expect(allowedFiles()).toEqual([{ path: file, changed: true }]);
  expect(await denyFiles(place.path('a'))).toEqual([file]);
  expect(allowedFiles()).toEqual([]);
});

test('what the owner writes stays allowed or is new; a stranger’s file stays a stranger’s', async () => {
  const file = place.path('a/switchboard.config.json');
  const made = place.path('a/.mcp.json');
  await keepApproval([file, made], () => {
    place.write('a/switchboard.config.json', '{"x": 1}');
    place.write('a/.mcp.json', '{}');
  });
  expect(approval().allows(file)).toBe(false);
  expect(approval().allows(made)).toBe(true);
  await keepApproval([made], () => void place.write('a/.mcp.json', '{"y": 1}'));
  expect(approval().allows(made)).toBe(true);
});

test.each([
  ['/**', true],
  ['DIR/**', true],
  ['DIR/*', true],
  ['DIR/a', true],
  ['DIR/b', false],
  ['DIR', false],
  ['DIR/a/**', true],
  ['DIR/?', true],
  ['relative/**', false],
])('allowProjects %s allows DIR/a: %s', (pattern, expected) => {
  const allowed = approval([pattern.replace('DIR', place.dir)]).allows(
    place.path('a/switchboard.config.json'),
  );
  expect(allowed).toBe(expected);
});

// Only administrators can create links on Windows.
test.skipIf(process.platform === 'win32')('a link cannot pass a folder off as one that is allowed', () => {
  mkdirSync(place.path('trusted'));
  symlinkSync(place.path('a'), place.path('trusted/a'));
  const linked = place.path('trusted/a/switchboard.config.json');
  expect(approval([`${place.dir}/trusted/**`]).allows(linked)).toBe(false);
});

test('a record that cannot be read allows nothing', async () => {
  const file = place.path('a/switchboard.config.json');
  place.write('state/allowed-files.json', 'no JSON');
  const asked = approval();
  expect(asked.allows(file)).toBe(false);
  await allowFiles(asked.notAllowed);
  expect(approval().allows(file)).toBe(true);
});

test.runIf(process.platform !== 'win32').each([
  ['can write', () => chmodSync(place.path('state/allowed-files.json'), 0o666)],
  ['can replace', () => chmodSync(place.path('state'), 0o777)],
])('a record that others %s allows nothing, and is not written', async (_what, open) => {
  const file = place.path('a/switchboard.config.json');
  const asked = approval();
  asked.allows(file);
  await allowFiles(asked.notAllowed);
  open();
  const warnings: string[] = [];
  const again = new ProjectApproval({
    allowProject: false,
    patterns: [],
    warn: ({ message }) => void warnings.push(message),
  });
  expect(again.allows(file)).toBe(false);
  expect(warnings).toEqual([expect.stringContaining('allowed-files.json cannot be used: ')]);
  await expect(allowFiles(asked.notAllowed)).rejects.toMatchObject({ code: 'STATE_NOT_PRIVATE' });
});

test('a file that is too large is ignored with a warning', () => {
  const file = place.write('a/.mcp.json', ' '.repeat(4 * 1024 * 1024 + 1));
  const warnings: unknown[] = [];
  const asked = new ProjectApproval({
    allowProject: false,
    patterns: [],
    warn: (each) => void warnings.push(each),
  });
  expect(asked.allows(file)).toBe(false);
  expect(asked.notAllowed).toEqual([]);
  expect(warnings).toEqual([{ file, message: 'is ignored: it is larger than 4 MiB', level: 'warn' }]);
});
