import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isObject } from '../shared/is-object.ts';
import { readForReplacing, replaceFile } from '../shared/replace-file.ts';

/** The configuration schema for editors, in our package and wherever it is copied to. */
const SCHEMA_NAME = 'switchboard.config.schema.json';
const PACKAGE = 'mcp-switchboard';
/** The folder for it in a project, out of the way. */
const FOLDER = '.switchboard';

/**
 * The `$schema` of a new configuration file. A path into our own installation would not work: npx removes it at its
 * next clean-up, and a colleague has a different one. It is therefore the package in the project's own node_modules if
 * it is a dependency, otherwise a copy: next to the user file, or in `.switchboard` of a project.
 */
export function schemaReference(scope: 'user' | 'project', directory: string): string | undefined {
  if (scope === 'user') return ownSchema() === undefined ? undefined : `./${SCHEMA_NAME}`;
  const installed = schemaInProject(directory);
  if (installed !== undefined) return asReference(relative(directory, installed));
  return ownSchema() === undefined ? undefined : `./${FOLDER}/${SCHEMA_NAME}`;
}

/**
 * Creates the copy that a configuration refers to, if there is none. The user's copy is also kept up to date; a
 * project's is not, or colleagues with different versions would change it back and forth. Returns its path if it was
 * written.
 */
export function keepSchemaCopy(
  scope: 'user' | 'project',
  directory: string,
  config: unknown,
): string | undefined {
  const reference = isObject(config) ? config.$schema : undefined;
  const folder = scope === 'user' ? directory : join(directory, FOLDER);
  const copy = join(folder, SCHEMA_NAME);
  if (typeof reference !== 'string' || resolve(directory, reference) !== copy) return undefined;
  const schema = ownSchema();
  if (schema === undefined) return undefined;
  try {
    const content = readFileSync(schema);
    if (scope === 'user') {
      const present = readForReplacing(copy);
      if (present?.bytes.equals(content) === true) return undefined;
      mkdirSync(folder, { recursive: true });
      return replaceFile(copy, present, content) ? copy : undefined;
    }
    // A repository may have a link here that leads out of it. Anything else with this name also stays.
    if (!existsSync(folder)) mkdirSync(folder);
    if (!lstatSync(folder).isDirectory()) return undefined;
    return replaceFile(copy, undefined, content) ? copy : undefined;
  } catch {
    // Without it, only hints in an editor are missing.
    return undefined;
  }
}

/** The schema of the running program. */
export function ownSchema(): string | undefined {
  const script = process.argv[1];
  if (script === undefined) return undefined;
  try {
    return above(dirname(realpathSync(script)), (directory) => join(directory, SCHEMA_NAME));
  } catch {
    return undefined;
  }
}

/** The schema in node_modules of the project or of the repository that contains it. */
function schemaInProject(directory: string): string | undefined {
  const inPackage = (parent: string): string => join(parent, 'node_modules', PACKAGE, SCHEMA_NAME);
  return above(resolve(directory), inPackage, (parent) => existsSync(join(parent, '.git')));
}

/** The first of these paths that exists, searching from a directory upwards. */
function above(
  start: string,
  pathIn: (directory: string) => string,
  isLast: (directory: string) => boolean = () => false,
): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(pathIn(directory))) return pathIn(directory);
    if (isLast(directory) || dirname(directory) === directory) return undefined;
  }
}

function asReference(path: string): string {
  const posix = path.split(sep).join('/');
  return posix.startsWith('.') ? posix : `./${posix}`;
}
