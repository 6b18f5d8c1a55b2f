import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** What a file of the program finds as `require`: our own files, and the modules of Node. */
export interface Require {
  (address: string): unknown;
  /** For modules outside the program, such as a JavaScript configuration. */
  import(address: string): Promise<unknown>;
}

export interface LoaderOptions {
  /** The file that the program was started with; its others are in a folder beside it. */
  readonly program: string;
  /** Loads the modules of Node. */
  readonly builtin: (address: string) => unknown;
  readonly import: (address: string) => Promise<unknown>;
}

/** A run that goes on for longer has started by then, in milliseconds. */
const STARTED_AFTER = 1000;
/** Around a file of the program; on a line of its own, so that the others keep their places in a stack trace. */
const BEFORE = '(function(require,module){\n';
const AFTER = '\n})';

/**
 * Loads the files of the program in place of Node's own loader, which looks in many places for each: here all are known.
 * And it keeps what was compiled. Most of what a short run costs is to compile functions, the same ones every time; the
 * first run of a kind leaves them in a file beside the program, the next ones take them from there. Anyone who may write
 * there can change the program too, so this adds no trust; if the folder is not writable, nothing is cached.
 */
export function createLoader(options: LoaderOptions): Require {
  const { program, builtin } = options;
  const folder = join(dirname(program), 'chunks');
  const run = plainRun();
  const keep = run && keptIn(join(folder, `${basename(program, '.js')}-${run.name}.compiled`), run.isCommand);
  const loaded = new Map<string, { exports: unknown }>();
  const load = (address: string): unknown => {
    if (!address.startsWith('.')) return builtin(address);
    const name = address.slice(address.lastIndexOf('/') + 1);
    const known = loaded.get(name);
    if (known) return known.exports;
    const filename = join(folder, name);
    const source = readFileSync(filename, 'utf8');
    const cachedData = keep?.known.get(name);
    const script = new Script(BEFORE + source + AFTER, { filename, lineOffset: -1, cachedData });
    keep?.compiled(name, script);
    const module = { exports: {} };
    (script.runInThisContext() as (require: Require, module: { exports: unknown }) => void)(require, module);
    loaded.set(name, module);
    return module.exports;
  };
  const require: Require = Object.assign(load, { import: options.import });
  return require;
}

interface Run {
  /** The Node, and what the program is to do: what is compiled depends on both. */
  readonly name: string;
  /** Whether it may be over soon and has done all the same what it is for. */
  readonly isCommand: boolean;
}

/** Undefined if Node runs with options that affect compilation: the result is of no use to other runs. */
function plainRun(): Run | undefined {
  const { argv, env, execArgv, version, platform, arch } = process;
  if (execArgv.length > 0 || env.NODE_OPTIONS !== undefined) return undefined;
  const [, , word = ''] = argv;
  const isCommand = /^[a-z][a-z-]*$/.test(word);
  return { name: [isCommand ? word : 'start', version, platform, arch].join('-'), isCommand };
}

interface Kept {
  /** What an earlier run has compiled, by file. */
  readonly known: ReadonlyMap<string, Buffer>;
  compiled(name: string, script: Script): void;
}

function keptIn(file: string, isCommand: boolean): Kept {
  const known = readKept(file);
  if (known) return { known, compiled: () => undefined };
  const scripts: [string, Script][] = [];
  let kept = false;
  const save = (): void => {
    if (!kept) writeKept(file, scripts);
    kept = true;
  };
  // What went wrong has compiled something else, and what only says its version next to nothing.
  if (isCommand)
    process.once('exit', (code) => {
      if (code === 0) save();
    });
  // A long-running program has compiled most of it by then, and later discards what it compiled first.
  setTimeout(save, STARTED_AFTER).unref();
  return { known: new Map(), compiled: (name, script) => scripts.push([name, script]) };
}

/** A line that names the files and how long the data of each is; then the data, each from a place that divides by eight. */
function readKept(file: string): Map<string, Buffer> | undefined {
  try {
    const whole = readFileSync(file);
    const end = whole.indexOf('\n');
    const lengths = JSON.parse(whole.toString('latin1', 0, end)) as [string, number][];
    let at = aligned(end + 1);
    const known = new Map<string, Buffer>();
    for (const [name, length] of lengths) {
      known.set(name, whole.subarray(at, at + length));
      at = aligned(at + length);
    }
    return at === whole.length ? known : undefined;
  } catch {
    return undefined;
  }
}

function writeKept(file: string, scripts: readonly [string, Script][]): void {
  const draft = `${file}.${process.pid}.draft`;
  try {
    accessSync(dirname(file), constants.W_OK);
    const parts = scripts.map(([name, script]) => [name, script.createCachedData()] as const);
    const head = `${JSON.stringify(parts.map(([name, data]) => [name, data.length]))}\n`;
    const texts = [Buffer.from(head), ...parts.map(([, data]) => data)];
    const whole = Buffer.concat(
      texts.flatMap((text) => [text, Buffer.alloc(aligned(text.length) - text.length)]),
    );
    const handle = openSync(draft, 'wx', 0o644);
    try {
      for (let at = 0; at < whole.length;) at += writeSync(handle, whole, at);
      // Half of it after a power cut would be worse than nothing.
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, file);
  } catch {
    // Then the next run compiles for itself too.
    rmSync(draft, { force: true });
  }
}

function aligned(at: number): number {
  return (at + 7) & ~7;
}
