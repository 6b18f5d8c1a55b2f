// Part of `npm run check`: an exported name means one thing in the whole of src, and words that once meant too many
// things are not used again (docs/GLOSSARY.md says what to use instead).
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** Whole names, of files and of exports. */
const EMPTY_NAMES = new Set(
  'Asked Carried Course Desk Done Findings Given Incarnation Kept Meant Offer Place Seat Shelf Site Surroundings Waiting'.split(
    ' ',
  ),
);
/** Parts of names: `quietSurroundings` is no better than `Surroundings`. */
const EMPTY_WORDS = /desk(?!top)|seat(?!belt)|shelf|surroundings|wayback|way-back|incarnation/i;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts') && !/\.(test|cases)\.ts$/.test(path));

const places = new Map();
const problems = [];
for (const file of files) {
  if (EMPTY_WORDS.test(basename(file))) problems.push(`src/${file}: its name says too little`);
  for (const name of exportsOf(file)) {
    if (EMPTY_NAMES.has(name) || EMPTY_WORDS.test(name))
      problems.push(`src/${file}: the name ${name} says too little`);
    // These re-export the names of other files; the second kind loads them first.
    if (!['index.ts', 'lazy.ts'].includes(basename(file)))
      places.set(name, [...(places.get(name) ?? []), `src/${file}`]);
  }
}
for (const [name, found] of places)
  if (found.length > 1) problems.push(`${name} is exported by ${found.join(' and ')}`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** The names that a file defines and exports, each once. */
function exportsOf(file) {
  const text = readFileSync(join(SRC, file), 'utf8');
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const names = statements
    .filter(({ modifiers }) => modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    .flatMap(({ name, declarationList }) => [
      ...(name === undefined ? [] : [name.text]),
      ...(declarationList?.declarations.map((declaration) => declaration.name.text) ?? []),
    ]);
  return new Set(names);
}
