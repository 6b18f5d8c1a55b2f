import { mkdirSync, symlinkSync } from 'node:fs';
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

test('a file is allowed at its place, with its content', () => {
  const file = place.path('a/switchboard.config.json');
  const asked = approval();
  expect(asked.allows(file)).toBe(false);
  expect(asked.notAllowed).toMatchObject([{ path: file }]);
  allowFiles(asked.notAllowed);
  expect(approval().allows(file)).toBe(true);
  expect(approval().allows(place.path('b/switchboard.config.json'))).toBe(false);
  place.write('a/switchboard.config.json', '{ }');
  expect(approval().allows(file)).toBe(false);
  expect(allowedFiles()).toEqual([{ path: file, changed: true }]);
  expect(denyFiles(place.path('a'))).toEqual([file]);
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

test('a link cannot pass a folder off as one that is allowed', () => {
  mkdirSync(place.path('trusted'));
  symlinkSync(place.path('a'), place.path('trusted/a'));
  const linked = place.path('trusted/a/switchboard.config.json');
  expect(approval([`${place.dir}/trusted/**`]).allows(linked)).toBe(false);
});

test('a record that cannot be read allows nothing', () => {
  const file = place.path('a/switchboard.config.json');
  place.write('state/allowed-files.json', 'no JSON');
  const asked = approval();
  expect(asked.allows(file)).toBe(false);
  allowFiles(asked.notAllowed);
  expect(approval().allows(file)).toBe(true);
});
