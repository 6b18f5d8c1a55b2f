/** Wrap and unwrap, interrupted or failing at each single file system operation. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../../test/helpers/temp-project.ts';
import { readFolderState } from './folder-state.ts';
import { outerConfig } from './outer-config.ts';
import { wrapperScript } from './script.ts';
import { unwrapFolder } from './unwrap-folder.ts';
import { wrapFolder } from './wrap-folder.ts';

const ORIGINAL =
  '\ufeff{ "name": "memory", "command": { "cmd": "node", "args": ["server.js"] } } // mine\r\n';
const CHANGING = [
  ...['mkdirSync', 'openSync', 'writeFileSync', 'fchmodSync', 'fsyncSync', 'linkSync', 'copyFileSync'],
  ...['chmodSync', 'utimesSync', 'renameSync', 'rmSync', 'unlinkSync', 'rmdirSync'],
] as const;

type Call = (...args: unknown[]) => unknown;
const table = fs as unknown as Record<string, Call>;
const untouched = Object.fromEntries(CHANGING.map((name) => [name, table[name]!]));
// It only matters after a power failure, which no test causes, and takes most of the time.
const real: Readonly<Record<string, Call>> = { ...untouched, fsyncSync: () => undefined };

function use(calls: Readonly<Record<string, Call>>): void {
  Object.assign(fs, calls);
  syncBuiltinESMExports();
}

beforeEach(() => use(real));
afterEach(() => use(untouched));

/** Simulates disk errors: returns the code with which a call fails, or undefined if it succeeds. */
type Trouble = (call: { readonly at: number; readonly name: string }) => string | undefined;

/** Runs the work on such a disk. Returns the number of calls and the error that it threw. */
function withTrouble(trouble: Trouble, work: () => void): { calls: number; error?: unknown } {
  let calls = 0;
  for (const [name, call] of Object.entries(real)) {
    table[name] = (...args) => {
      if (name === 'openSync' && isReading(args[1])) return call(...args);
      const code = trouble({ at: ++calls, name });
      if (code === undefined) return call(...args);
      // A process that is killed while writing leaves a partial file.
      if (name === 'writeFileSync') call(args[0], String(args[1]).slice(0, 9));
      throw Object.assign(new Error(`${code}: ${name}`), { code });
    };
  }
  syncBuiltinESMExports();
  try {
    work();
    return { calls };
  } catch (error) {
    return { calls, error };
  } finally {
    use(real);
  }
}

function isReading(flags: unknown): boolean {
  const { O_WRONLY, O_RDWR } = fs.constants;
  return flags === 'r' || (typeof flags === 'number' && (flags & (O_WRONLY | O_RDWR)) === 0);
}

/** Simulates a process that is killed at this call: nothing happens afterwards. */
const killedAt =
  (last: number): Trouble =>
  ({ at }) =>
    at >= last ? 'EKILLED' : undefined;
const failingAt =
  (one: number): Trouble =>
  ({ at }) =>
    at === one ? 'EIO' : undefined;
const fullFrom =
  (first: number): Trouble =>
  ({ at, name }) =>
    at >= first && /^(mkdir|open|write|copy|link)/.test(name) ? 'ENOSPC' : undefined;

const SITUATIONS: [string, Record<string, string>, string | undefined][] = [
  ['a folder without instructions', {}, '# Ours\n'],
  ['a folder whose own instructions are used', { 'CLAUDE.md': '# Own\n' }, undefined],
  ['a folder whose own instructions are set aside', { 'CLAUDE.md': '# Own\n' }, '# Ours\n'],
];

function snapshot(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true }) as string[];
  return Object.fromEntries(
    names.map((name) => {
      const stat = fs.lstatSync(join(folder, name));
      const content = stat.isFile() ? fs.readFileSync(join(folder, name), 'latin1') : '';
      // The definition remains the same file.
      const identity = name === '.mcp.json' ? `${stat.ino} ${stat.mtimeMs}` : '';
      return [name, `${stat.mode.toString(8)} ${identity} ${content}`];
    }),
  );
}

describe.each(SITUATIONS)('%s', (_, files, instructions) => {
  const folderAsItWas = (): string => {
    const { dir } = createProject({ '.mcp.json': ORIGINAL, ...files });
    fs.chmodSync(join(dir, '.mcp.json'), 0o600);
    return dir;
  };
  const wrapIt = (folder: string): void =>
    wrapFolder({
      folder,
      server: 'memory',
      original: Buffer.from(ORIGINAL),
      config: outerConfig(
        { name: 'memory' },
        { server: 'memory', command: 'node', args: ['memory-claude-wrapper.mjs'], rpcMs: 1000 },
      ),
      script: wrapperScript('memory', { kind: 'installed', program: '/opt/switchboard/dist/index.js' }),
      instructions,
    });
  /** The server is usable, or its wrapper with everything it needs. */
  const expectUsable = (folder: string): void => {
    const text = fs.readFileSync(join(folder, '.mcp.json'), 'utf8');
    if (text === ORIGINAL) return;
    expect(JSON.parse(text)).toMatchObject({ command: { args: ['memory-claude-wrapper.mjs'] } });
    expect(fs.readFileSync(join(folder, 'original/.mcp.json'), 'utf8')).toBe(ORIGINAL);
    expect(fs.readdirSync(folder)).toEqual(
      expect.arrayContaining(['memory-claude-wrapper.mjs', 'CLAUDE.md']),
    );
  };

  /** Tries every position until one is past the end. */
  function atEach(
    trouble: (at: number) => Trouble,
    first: 'wrap' | 'unwrap',
    check: (folder: string, before: Record<string, string>, error: unknown) => void,
  ): void {
    for (let at = 1; ; at++) {
      const folder = folderAsItWas();
      const before = snapshot(folder);
      if (first === 'unwrap') wrapIt(folder);
      const { calls, error } = withTrouble(trouble(at), () =>
        first === 'wrap' ? wrapIt(folder) : void unwrapFolder(folder),
      );
      expectUsable(folder);
      check(folder, before, error);
      if (calls < at) {
        expect(at).toBeGreaterThan(4);
        return;
      }
    }
  }

  test.each(['wrap', 'unwrap'] as const)('comes back wherever %s is killed', (first) => {
    atEach(killedAt, first, (folder, before) => {
      expect(unwrapFolder(folder)).toEqual({ kept: [] });
      expect(snapshot(folder)).toEqual(before);
    });
  });

  test.each(['wrap', 'unwrap'] as const)('can be wrapped wherever %s was killed', (first) => {
    atEach(killedAt, first, (folder, before) => {
      if (readFolderState(folder).kind !== 'wrapped') wrapIt(folder);
      expect(readFolderState(folder).kind).toBe('wrapped');
      unwrapFolder(folder);
      expect(snapshot(folder)).toEqual(before);
    });
  });

  test('comes back from a wrap and an unwrap that were both killed', () => {
    for (let wrapped = 1, isKilled = true; isKilled; wrapped++) {
      for (let unwrapped = 1; unwrapped <= 6; unwrapped++) {
        const folder = folderAsItWas();
        const before = snapshot(folder);
        isKilled = withTrouble(killedAt(wrapped), () => wrapIt(folder)).error !== undefined;
        withTrouble(killedAt(unwrapped), () => void unwrapFolder(folder));
        expectUsable(folder);
        // Discarding changes must not discard the folder's own files.
        expect(unwrapFolder(folder, { force: unwrapped % 2 === 0 })).toEqual({ kept: [] });
        expect(snapshot(folder)).toEqual(before);
      }
    }
  });

  test('an empty folder original is its own one, also where a wrap was killed', () => {
    let seen = 0;
    for (let at = 1, isKilled = true; isKilled; at++) {
      const folder = folderAsItWas();
      isKilled = withTrouble(killedAt(at), () => wrapIt(folder)).error !== undefined;
      if (fs.existsSync(join(folder, 'original'))) continue;
      seen++;
      fs.mkdirSync(join(folder, 'original'));
      expect(() => wrapIt(folder)).toThrow(/original already exists/);
      expect(fs.readdirSync(folder).sort()).toEqual([...Object.keys(files), '.mcp.json', 'original'].sort());
    }
    expect(seen).toBeGreaterThan(4);
  });

  test.each([
    ['fails at one thing', failingAt],
    ['has no more room', fullFrom],
  ])('is as it was, and says so, where the disk %s while it is wrapped', (__, trouble) => {
    atEach(trouble, 'wrap', (folder, before, error) => {
      if (error === undefined) {
        expect(readFolderState(folder).kind).toBe('wrapped');
        return;
      }
      expect(error).toMatchObject({
        code: 'WRAP_FAILED',
        hint: expect.stringContaining('The folder is unchanged') as string,
      });
      expect(snapshot(folder)).toEqual(before);
    });
  });

  test('if even the cleanup fails, the error says what to do', () => {
    const folder = folderAsItWas();
    const before = snapshot(folder);
    const readOnlyFrom = killedAt(8);
    const { error } = withTrouble(readOnlyFrom, () => wrapIt(folder));
    expect(error).toMatchObject({
      code: 'WRAP_FAILED',
      hint: expect.stringContaining('then unwrap it') as string,
    });
    unwrapFolder(folder);
    expect(snapshot(folder)).toEqual(before);
  });
});
