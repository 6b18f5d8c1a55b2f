import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Warn } from './candidate.ts';
import { isTooDeep, TOO_DEEP } from '../shared/depth.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { JsoncError, parseJsonc, parseJsoncWithRepeats } from '../shared/jsonc.ts';
import { readRegularFile } from '../shared/regular-file.ts';
import { keyPath } from './problem.ts';

/** What a configuration file says, unchecked: JSON with comments, or the promise of what a module exports. */
export function readConfigFile(file: string, warn?: Warn): unknown {
  return isModule(file) ? readModule(file) : readJsonFile(file, warn);
}

/** Whether a configuration is a program. */
export function isModule(file: string): boolean {
  return /\.[cm]?js$/.test(file);
}

/** What a JSON file says. Throws a SwitchboardError that names the file and, for a typo in it, line and column. */
export function readJsonFile(file: string, warn?: Warn): unknown {
  let text: string;
  try {
    text = readRegularFile(file).toString('utf8');
  } catch (cause) {
    throw unreadable(`${file}: cannot be read: ${messageOf(cause)}`, cause);
  }
  return parseJsonFile(file, text, warn);
}

/** The same for what was read already. A key that is there twice is a warning where `warn` is given. */
export function parseJsonFile(file: string, text: string, warn?: Warn): unknown {
  // What Windows tools call "Unicode": two bytes that are no UTF-8, then a zero after every letter.
  if (text.startsWith('\ufffd\ufffd'))
    throw unreadable(`${file}: is not valid UTF-8.`, undefined, 'Save it as UTF-8.');
  try {
    if (warn === undefined) return parseJsonc(text);
    return parseJsoncWithRepeats(text, ({ path, lines: [first, second] }) => {
      const message = `appears twice, on lines ${first} and ${second}; the last one is used`;
      warn({ file, key: keyPath(path), message, level: 'warn' });
    });
  } catch (cause) {
    if (!(cause instanceof JsoncError)) throw cause;
    const excerpt = cause.excerpt === '' ? '' : `, in: ${cause.excerpt}`;
    throw unreadable(`${file}:${cause.line}:${cause.column}: ${cause.reason}${excerpt}`, cause);
  }
}

/** Throws where a JSON file cannot be read; a program is not run to find out. */
export function refuseBroken(file: string): void {
  if (!isModule(file)) readJsonFile(file);
}

/** The hooks that a module exports beside its configuration; undefined for none. */
export async function readHooks(file: string): Promise<HookModule | undefined> {
  if (!isModule(file)) return undefined;
  try {
    const address = addressOf(file);
    // It was read just now, and is not run again.
    const module = (await quietly(() => import(/* @vite-ignore */ address))) as { default?: unknown };
    const exported = (isCompiledModule(module.default) ? module.default : module) as Record<string, unknown>;
    const hooks = HOOKS.filter((name) => exported[name] !== undefined);
    const other = hooks.find((name) => typeof exported[name] !== 'function');
    if (other !== undefined) throw new Error(`its export ${other} is not a function`);
    return hooks.length === 0 ? undefined : { file, address, hooks };
  } catch (cause) {
    throw unreadable(`${file}: could not be loaded: ${messageOf(cause)}`, cause);
  }
}

/** A module that exports functions that see every call. */
export interface HookModule {
  readonly file: string;
  /** Of the module with its present content. */
  readonly address: string;
  readonly hooks: readonly (typeof HOOKS)[number][];
}

const HOOKS = ['beforeCall', 'afterCall'] as const;

/** With the time of the last change in the address, a configuration read again is the current one. */
function addressOf(file: string): string {
  const address = pathToFileURL(file);
  const found = statSync(file);
  // A device has no end.
  if (!found.isFile()) throw new Error('it is not a regular file');
  address.searchParams.set('changed', String(found.mtimeMs));
  return address.href;
}

async function readModule(file: string): Promise<unknown> {
  try {
    const address = addressOf(file);
    const module = (await quietly(() => import(/* @vite-ignore */ address))) as { default?: unknown };
    let exported = module.default;
    // A module compiled to CommonJS keeps its default export one level deeper.
    if (isCompiledModule(exported)) exported = exported.default;
    const value: unknown =
      typeof exported === 'function'
        ? await quietly(() => Promise.resolve((exported as () => unknown)()))
        : exported;
    if (value === undefined) throw new Error('it has no default export');
    const data = plainData(value);
    if (isTooDeep(data)) throw new Error(`it is ${TOO_DEEP}`);
    return data;
  } catch (cause) {
    throw unreadable(
      `${file}: could not be loaded: ${messageOf(cause)}`,
      cause,
      'Its default export must be a configuration object, or a function that returns one.',
    );
  }
}

/** Runs a user's code with what it logs going to stderr: stdout belongs to the protocol. */
async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { log, info, debug } = console;
  console.log = console.info = console.debug = console.error;
  try {
    return await run();
  } finally {
    Object.assign(console, { log, info, debug });
  }
}

function isCompiledModule(value: unknown): value is { default: unknown } {
  return typeof value === 'object' && value !== null && '__esModule' in value && 'default' in value;
}

function unreadable(message: string, cause?: unknown, hint?: string): SwitchboardError {
  return new SwitchboardError('CONFIG_UNREADABLE', message, { cause, hint });
}

/**
 * What a JavaScript configuration says, as plain data: getters are read once, inherited members and those that are
 * undefined are dropped, nothing is shared with the module. What JSON cannot say (a function) stays, to be reported.
 */
function plainData(value: unknown, ancestors: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ancestors.includes(value)) throw new Error('the configuration refers to itself');
  const line = [...ancestors, value];
  if (Array.isArray(value)) return value.map((member: unknown) => plainData(member, line));
  // fromEntries defines members, so "__proto__" stays a key like any other.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, plainData(member, line)]),
  );
}
