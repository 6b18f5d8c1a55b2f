// Part of `npm run check`: a file of the command line that only one command uses is in the folder of that command, or
// below it, so that a newcomer finds it there. What several commands use may be anywhere in their program.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const CLI = join(ROOT, 'src/cli');

/** The commands that use a file; undefined for files that every command needs, such as those that serve a host. */
const users = new Map();
for (const program of ['switchboard', 'switchyard']) {
  const home = join(CLI, program);
  const table = join(home, 'commands.ts');
  const always = reachedFrom(join(home, 'main.ts'), new Set([table]));
  for (const file of always) users.set(file, undefined);
  const commands = importsOf(table).filter((file) => file.startsWith(home) && dirname(file) !== home);
  for (const command of commands)
    for (const file of reachedFrom(command, always))
      if (!users.has(file) || users.get(file) !== undefined)
        users.set(file, [...(users.get(file) ?? []), command]);
}

const problems = [];
for (const [file, [command, another] = []] of users)
  if (
    command !== undefined &&
    another === undefined &&
    !file.startsWith(`${dirname(command)}/`) &&
    !isKit(file)
  )
    problems.push(`${shown(file)} is used by ${shown(command)} alone, and belongs into its folder`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** All files of the command line that a file imports, statically or dynamically, including itself. */
function reachedFrom(start, without) {
  const found = new Set();
  const visit = (file) => {
    if (found.has(file) || without.has(file) || !file.startsWith(CLI)) return;
    found.add(file);
    importsOf(file).forEach(visit);
  };
  visit(start);
  return found;
}

function importsOf(file) {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)].map(([, path]) =>
    resolve(dirname(file), path),
  );
}

function isKit(file) {
  return file.startsWith(join(CLI, 'kit/'));
}

function shown(file) {
  return file.slice(ROOT.length);
}
