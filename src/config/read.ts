import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Warn } from './candidate.ts';
import { isTooDeep, TOO_DEEP } from '../shared/depth.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { JsoncError, parseJsonc, parseJsoncWithRepeats } from '../shared/jsonc.ts';
import { readRegularFile } from '../shared/regular-file.ts';
import { keyPath } from './problem.ts';

/** The unchecked content of a configuration file: parsed JSON with comments, or a promise of a module's export. */
export function readConfigFile(file: string, warn?: Warn): unknown {
  return isModule(file) ? readModule(file) : readJsonFile(file, warn);
}

/** Whether a configuration is a JavaScript module. */
export function isModule(file: string): boolean {
  return /\.[cm]?js$/.test(file);
}

/**
 * The content of a JSON file. Throws a SwitchboardError that names the file and, for a syntax error, line and column.
 */
export function readJsonFile(file: string, warn?: Warn): unknown {
  let text: string;
  try {
    text = readRegularFile(file).toString('utf8');
  } catch (cause) {
    throw unreadable(`${file}: cannot be read: ${messageOf(cause)}`, cause);
  }
  return parseJsonFile(file, text, warn);
}

/** The same for a text that was already read. If `warn` is given, it is called for a duplicate key. */
export function parseJsonFile(file: string, text: string, warn?: Warn): unknown {
  // What Windows tools call "Unicode": two bytes that are not UTF-8, then a zero after every letter.
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

/** Throws if a JSON file cannot be read. A module is not run for this check. */
export function refuseBroken(file: string): void {
  if (!isModule(file)) readJsonFile(file);
}

/** The hooks that a module exports next to its configuration; undefined if there are none. */
export async function readHooks(file: string): Promise<HookModule | undefined> {
  if (!isModule(file)) return undefined;
  try {
    const address = addressOf(file);
    // It was loaded just now, so it is not run again.
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

/** A module that exports functions to see every call. */
export interface HookModule {
  readonly file: string;
  /** The address of the module with its current content. */
  readonly address: string;
  readonly hooks: readonly (typeof HOOKS)[number][];
}

const HOOKS = ['beforeCall', 'afterCall'] as const;

/** The address includes the time of the last change, so that reading a configuration again returns the current one. */
function addressOf(file: string): string {
  const address = pathToFileURL(file);
  const found = statSync(file);
  // Reading a device might never end.
  if (!found.isFile()) throw new Error('it is not a regular file');
  address.searchParams.set('changed', String(found.mtimeMs));
  return address.href;
}

async function readModule(file: string): Promise<unknown> {
  try {
    const address = addressOf(file);
    const module = (await quietly(() => import(/* @vite-ignore */ address))) as { default?: unknown };
    let exported = module.default;
    // A module compiled to CommonJS has its default export one level deeper.
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

/** Runs a user's code with its log output redirected to stderr, because stdout belongs to the protocol. */
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
 * The content of a JavaScript configuration as plain data: getters are read once, inherited and undefined members are
 * dropped, and nothing is shared with the module. Values that JSON cannot represent (functions) stay, to be reported.
 */
function plainData(value: unknown, ancestors: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ancestors.includes(value)) throw new Error('the configuration refers to itself');
  const line = [...ancestors, value];
  if (Array.isArray(value)) return value.map((member: unknown) => plainData(member, line));
  // fromEntries defines members, so "__proto__" stays an ordinary key.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, plainData(member, line)]),
  );
}
