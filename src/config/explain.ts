/**
 * Turns "the quick check says no" into sentences. This is the only file that loads the zod schemas, and it is itself
 * loaded only when there is something to explain.
 */
import type { z } from 'zod';
import { isObject } from '../shared/is-object.ts';
import { didYouMean, nearest } from '../shared/nearest.ts';
import { isRemoteEntry, NO_ADDRESS } from './describe-remote.ts';
import type { ConfigProblem } from './problem.ts';
import { builtinServer, config, remoteServer, serverName, stdioServer } from './schema/config.ts';
import type { ExplainedProblem } from './unknown-keys.ts';

/** What is wrong with a configuration. */
export function explainConfig(value: unknown): ExplainedProblem[] {
  return problemsOf(config, value);
}

/** Explains what is wrong with an entry of `mcpServers`. Its keys determine which kind of server it describes. */
export function explainServer(entry: unknown): ExplainedProblem[] {
  if (isObject(entry) && Object.hasOwn(entry, 'builtin')) return problemsOf(builtinServer, entry);
  if (isObject(entry) && isRemoteEntry(entry)) return problemsOf(remoteServer, entry);
  if (!isObject(entry) || entry.command !== undefined) return problemsOf(stdioServer, entry);
  const others = problemsOf(stdioServer, entry).filter(
    ({ path: [key], unknownKey }) => key !== 'command' && !unknownKey,
  );
  return [...others, NEITHER];
}

/** Neither a program nor a URL, so it is unclear which of the two was intended. */
const NEITHER: ConfigProblem = {
  path: [],
  message:
    'needs "command" or "url": the program to start, for example "command": "npx", or the URL of a remote ' +
    'server',
};

/** What is wrong with the name of a server. */
export function explainServerName(name: string): readonly ConfigProblem[] {
  return problemsOf(serverName, name);
}

type Issue = z.core.$ZodIssue;
type Path = ConfigProblem['path'];

function problemsOf(schema: z.ZodType, value: unknown): ExplainedProblem[] {
  const checked = withStandIn(value);
  const issues = schema.safeParse(checked).error?.issues ?? [];
  return issues
    .flatMap((issue) => explainIssue(issue, [], schema, checked))
    .map((problem) => ({
      ...problem,
      path: problem.path.map((step) => (step === STAND_IN ? '__proto__' : step)),
    }));
}

// zod ignores a "__proto__" key of a record, so it is checked under another name that is valid wherever the real one
// is.
const STAND_IN = '__proto__-_-_-';

function withStandIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStandIn);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key === '__proto__' ? STAND_IN : key, withStandIn(member)]),
  );
}

function explainIssue(issue: Issue, prefix: Path, schema: z.ZodType, root: unknown): ExplainedProblem[] {
  const path = [...prefix, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  const value = valueAt(root, path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const allowed = keysAt(schema, path, root);
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: unknown(key, allowed),
        unknownKey: true,
      }));
    }
    case 'invalid_union': {
      if (value === undefined) return [{ path, message: missing(path) }];
      // The branch for this kind of value determines what is wrong inside. If none fits, the union itself does.
      const fitting = issue.errors.find((branch) =>
        branch.every((inner) => inner.path.length > 0 || !isWrongKind(inner)),
      );
      if (fitting === undefined) return [{ path, message: withFound(issue.message, value) }];
      return fitting.flatMap((inner) => explainIssue(inner, path, schema, root));
    }
    case 'invalid_key':
      return [{ path, message: issue.issues[0]?.message ?? issue.message }];
    case 'invalid_value':
      return [{ path, message: oneOf(issue.values.map(String), value) }];
    case 'invalid_type':
      if (value === undefined) return [{ path, message: missing(path) }];
      return [
        {
          path,
          message: withFound(
            zodsOwn(issue.message) ? `must be ${article(issue.expected)}` : issue.message,
            value,
          ),
        },
      ];
    default:
      return [{ path, message: issue.message }];
  }
}

function isWrongKind(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function zodsOwn(message: string): boolean {
  return message.startsWith('Invalid input');
}

function unknown(key: string, allowed: readonly string[]): string {
  const guess = didYouMean(key, allowed);
  return `is not a known key and is ignored. ${guess ?? `Available: ${allowed.join(', ')}.`}`;
}

/** The choices, and the one that was probably intended. The given value is not repeated, because it may be a secret. */
function oneOf(choices: readonly string[], value: unknown): string {
  const guess = typeof value === 'string' ? nearest(value, choices, 1)[0] : undefined;
  const list = choices.map((choice) => JSON.stringify(choice)).join(', ');
  const rule = choices.length === 1 ? `must be ${list}` : `must be one of ${list}`;
  return guess === undefined ? withFound(rule, value) : `${rule} (did you mean ${JSON.stringify(guess)}?)`;
}

function missing(path: Path): string {
  const key = path.at(-1);
  if (key === 'command') return 'is missing: add the program to start, for example "command": "npx"';
  if (key === 'url') return NO_ADDRESS;
  if (key === 'name' && path.length === 1)
    return 'is missing: add the name of the server, for example "name": "playwright"';
  if (key === 'name') return "is missing: add the tool's own name";
  if (key === 'original') return "is missing: add the tool's own name";
  if (key === 'exposed') return 'is missing: add the new name of the tool';
  if (key === 'description') return 'is missing: describe what the tool is for';
  if (key === 'subtools')
    return 'is missing: add the tools, for example "subtools": {"server": {"tools": [{"name": "tool"}]}}';
  if (key === 'tools') return 'is missing: add the tools, for example "tools": [{"name": "tool"}]';
  return 'is missing';
}

function withFound(rule: string, value: unknown): string {
  // For an invalid text, or a number out of range, the rule alone is enough.
  return typeof value === 'string' || typeof value === 'number' ? rule : `${rule}, not ${kindOf(value)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : article(typeof value);
}

function article(kind: string): string {
  const words: Record<string, string> = {
    string: 'a text',
    array: 'a list',
    record: 'an object',
    int: 'a whole number',
  };
  return words[kind] ?? (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`);
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** The keys that an object at this location may have. */
function keysAt(schema: z.ZodType, path: Path, root: unknown): string[] {
  let options: z.core.$ZodType[] = unwrapped(schema);
  for (const step of path) {
    options = options.flatMap((option) => {
      const { def } = (option as z.core.$ZodTypes)._zod;
      if (def.type === 'object') return typeof step === 'string' ? unwrapped(def.shape[step]) : [];
      if (def.type === 'record') return unwrapped(def.valueType);
      return def.type === 'array' ? unwrapped(def.element) : [];
    });
  }
  const found = options
    .map((option) => (option as z.core.$ZodTypes)._zod.def)
    .filter((def) => def.type === 'object')
    .map((def) => Object.keys(def.shape));
  // If there are several forms, use the one that is most similar to the object.
  const present = Object.keys(valueAt(root, path) ?? {});
  const likeness = (keys: readonly string[]): number => keys.filter((key) => present.includes(key)).length;
  return found.sort((a, b) => likeness(b) - likeness(a))[0] ?? [];
}

/** The schemas inside optional, default and union wrappers. */
function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType[] {
  if (schema === undefined) return [];
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'union') return def.options.flatMap(unwrapped);
  return def.type === 'optional' || def.type === 'default' || def.type === 'prefault'
    ? unwrapped(def.innerType)
    : [schema];
}
