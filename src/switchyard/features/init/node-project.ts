import { isObject } from '../../../shared/is-object.ts';
import { packageManagerOf, programCommand, scriptCommand } from '../../records/project/package-manager.ts';
import { filesOf, type ProjectFiles } from '../../records/project/project-files.ts';
import type { DetectedService, DetectInput } from './detect.ts';
import { readScript, type DevTool } from './dev-tool.ts';

const USUAL_PORT = 3000;

/** The first script of package.json with one of these names. */
export function detectNodeScript(input: DetectInput, names: readonly string[]): DetectedService | undefined {
  const files = filesOf(input.root);
  const manifest = readManifest(files.text('package.json'));
  const name = names.find((each) => typeof manifest?.scripts[each] === 'string');
  if (manifest === undefined || name === undefined) return undefined;
  const manager = packageManagerOf(files, manifest.packageManager);
  const { tool, port, bareCommand, fixesPort } = readScript(manifest.scripts[name] as string);
  // Not linked: branches may need different packages, and tools keep caches there.
  const worktreeNote = `A new worktree has no node_modules: run "${manager} install" in it once.`;
  const seen = `package.json has a script "${name}"`;
  if (tool === undefined) {
    // Unknown servers read PORT, and many fail on an unknown flag.
    const advice = fixesPort
      ? `, which sets PORT itself: remove that, or all branches use the same port.`
      : ', which must listen on the port in the variable PORT.';
    const command = scriptCommand(manager, name, '');
    return { name: 'web', command, port: port ?? USUAL_PORT, reason: seen + advice, worktreeNote };
  }
  const { flags, refusesNames } = forRelease(files, manifest, tool);
  const command =
    tool.oncePort === true && port !== undefined
      ? programCommand(manager, `${bareCommand} ${flags}`)
      : scriptCommand(manager, name, flags);
  const reason = `${seen} that runs ${tool.name}.`;
  return { name: 'web', command, port: port ?? tool.port, reason, worktreeNote, refusesNames };
}

interface ForRelease {
  readonly flags: string;
  readonly refusesNames: boolean;
}

/** By the installed release; otherwise by the major release in package.json, of which npm installs the latest. */
function forRelease(files: ProjectFiles, { requested }: Manifest, { flags, older }: DevTool): ForRelease {
  if (older === undefined) return { flags, refusesNames: false };
  const installed = objectIn(files.text(`node_modules/${older.package}/package.json`))?.version;
  const version = /^\D{0,2}(\d+)\.?(\d+)?/.exec(String(installed ?? requested[older.package]));
  const major = Number(version?.[1] ?? Infinity);
  const minor = installed === undefined ? Infinity : Number(version?.[2]);
  const [namesMajor, namesMinor] = older.namesSince;
  return {
    flags: major < older.flagsSince ? older.flags : flags,
    refusesNames: major < namesMajor || (major === namesMajor && minor < namesMinor),
  };
}

/** A file that Node can run: `main` of package.json, or a file with a usual server name. */
export function detectNodeEntry(input: DetectInput): DetectedService | undefined {
  const files = filesOf(input.root);
  const manifest = readManifest(files.text('package.json'));
  const main = typeof manifest?.main === 'string' ? manifest.main.replace(/^\.\//, '') : undefined;
  const usual = ['server.js', 'server.mjs', 'server.cjs'];
  if (manifest !== undefined) usual.push('app.js', 'index.js', 'index.mjs', 'app.mjs');
  const entry = [main, ...usual].find(
    (each) => each !== undefined && PLAIN_FILE.test(each) && files.isFile(each),
  );
  if (entry === undefined) return undefined;
  const why = entry === main ? `package.json names ${entry} as "main"` : `${entry} was found`;
  const reason = `${why}, which must listen on the port in the variable PORT.`;
  return { name: 'web', command: `node ${entry}`, port: USUAL_PORT, reason };
}

/** Needs no quotes on a command line, and is not a flag. */
const PLAIN_FILE = /^[\w@][\w@./-]*\.[cm]?js$/;

interface Manifest {
  readonly scripts: Readonly<Record<string, unknown>>;
  readonly main: unknown;
  readonly packageManager: unknown;
  /** Packages and their requested versions. */
  readonly requested: Readonly<Record<string, unknown>>;
}

/** Undefined if the file is missing or broken. */
function readManifest(text: string): Manifest | undefined {
  const value = objectIn(text);
  if (value === undefined) return undefined;
  const { scripts, main, packageManager, dependencies, devDependencies } = value;
  const requested = [dependencies, devDependencies].filter(isObject);
  return {
    scripts: isObject(scripts) ? scripts : {},
    main,
    packageManager,
    requested: Object.assign({}, ...requested) as Manifest['requested'],
  };
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
