import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject, ROOT } from '../helpers/temp-project.ts';

const SCRIPT = join(ROOT, 'scripts/check-commits.mjs');
const GOOD = [
  'feat(wire): accept headers in any case',
  'fix!: bring a crashed server back',
  'docs: address the review',
];

/** A repository whose first commit is the base of a change with these subjects. */
function repository({ subjects, base }: { subjects: readonly string[]; base?: string }) {
  const project = createProject();
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    const { status, stderr } = spawnSync('git', [...identity, ...args], {
      cwd: project.dir,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
  };
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'Before the rules.');
  if (base !== undefined) git('update-ref', base, 'HEAD');
  for (const subject of subjects) git('commit', '-q', '--allow-empty', '-m', subject);
  return (...args: string[]) =>
    spawnSync(process.execPath, [SCRIPT, ...args], { cwd: project.dir, encoding: 'utf8' });
}

test('good subjects pass, and commits before the base are not checked', () => {
  const check = repository({ subjects: GOOD, base: 'refs/remotes/origin/main' });
  expect(check()).toMatchObject({ status: 0, stdout: 'Commit subjects checked: 3.\n' });
});

test.each([
  ['Add a thing', 'type(scope): description'],
  ['feature: add a thing', 'type(scope): description'],
  ['feat: Add a thing', 'lower-case'],
  ['feat: adds a thing', 'imperative'],
  ['feat: added a thing', 'imperative'],
  ['feat: adding a thing', 'imperative'],
  ['feat: add a thing.', 'full stop'],
  [`feat: add ${'x'.repeat(63)}`, '73 characters'],
])('%s is named with the rule it breaks', (subject, rule) => {
  const { status, stderr } = repository({ subjects: [GOOD[0]!, subject] })('HEAD~2..HEAD');
  expect(status).toBe(1);
  expect(stderr).toContain(subject);
  expect(stderr).toContain(rule);
  expect(stderr).not.toContain(GOOD[0]);
});

test('without a base to compare with the check is skipped, and says so', () => {
  const check = repository({ subjects: ['Anything at all.'] });
  expect(check()).toMatchObject({ status: 0, stdout: expect.stringContaining('Skipped') as string });
});

test('a range that git does not know is an error', () => {
  const check = repository({ subjects: [] });
  expect(check('nowhere..HEAD')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('nowhere') as string,
  });
});
