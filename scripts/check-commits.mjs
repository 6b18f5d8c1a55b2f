/**
 * `npm run check:commits`: checks the commit subjects of a change against the rules in CONTRIBUTING.md.
 *
 *   node scripts/check-commits.mjs [RANGE]
 *
 * RANGE defaults to origin/main..HEAD. Merge commits are skipped. Exit code 1: a subject breaks a rule;
 * 2: git cannot read the range. Without RANGE and without origin/main there is nothing to compare with, which is not an error.
 */
import { spawnSync } from 'node:child_process';

const BASE = 'origin/main';
const LONGEST = 72;
const TYPES = ['build', 'chore', 'ci', 'docs', 'feat', 'fix', 'perf', 'refactor', 'revert', 'test'];
const FORM = new RegExp(String.raw`^(?:${TYPES.join('|')})(?:\([\w,./-]+\))?!?: (.+)$`);
/** Imperatives that look like another form of a verb. */
const IMPERATIVE = /^(?:bring|embed|exceed|feed|focus|need|ping|proceed|seed|speed|string|succeed)$/;

const git = (...args) => spawnSync('git', args, { encoding: 'utf8' });

const [range = `${BASE}..HEAD`] = process.argv.slice(2);
if (process.argv.length === 2 && git('rev-parse', '--verify', '--quiet', BASE).status !== 0) {
  console.log(`Skipped: there is no ${BASE} to compare with. Pass a range, for example main..HEAD.`);
  process.exit(0);
}
const log = git('log', '--no-merges', '--reverse', '--format=%h %s', '--end-of-options', range, '--');
if (log.status !== 0) {
  console.error(`git cannot read the range ${range}: ${log.stderr.trim()}`);
  process.exit(2);
}
const commits = log.stdout.split('\n').filter(Boolean);
let bad = 0;
for (const commit of commits) {
  const problems = problemsOf(commit.slice(commit.indexOf(' ') + 1));
  if (problems.length === 0) continue;
  bad += 1;
  console.error(`${commit}\n  ${problems.join('\n  ')}`);
}
if (bad > 0) {
  console.error(`\n${bad} of ${commits.length} commit subjects break the rules in CONTRIBUTING.md.`);
  console.error('Reword them with: git rebase -i');
  process.exit(1);
}
console.log(`Commit subjects checked: ${commits.length}.`);

function problemsOf(subject) {
  const problems = [];
  const { length } = [...subject];
  if (length > LONGEST) problems.push(`It has ${length} characters; the limit is ${LONGEST}.`);
  const [, description] = FORM.exec(subject) ?? [];
  if (description === undefined)
    return [...problems, `Write "type(scope): description"; types: ${TYPES.join(', ')}.`];
  const [verb] = description.split(' ');
  if (/^\p{Lu}/u.test(verb)) problems.push('Begin the description with a lower-case verb.');
  else if (/(?:[^s]s|ed|ing)$/.test(verb) && !IMPERATIVE.test(verb))
    problems.push(`Use the imperative: "add", not "adds", "added" or "adding" (found "${verb}").`);
  if (description.endsWith('.')) problems.push('Leave out the full stop at the end.');
  return problems;
}
