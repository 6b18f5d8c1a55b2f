import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../../../shared/regular-file.ts';
import { isSecretName, secretMask } from '../../../shared/secrets.ts';
import { prefixOf } from '../git/repository.ts';
import { projectRecord, type YardContext } from './context.ts';

/** Larger files are not read, in bytes. */
const LARGEST = 256 * 1024;

/**
 * Masks the secrets in env files of a project, in text that its services wrote: the files under `[env]`, and those
 * called `.env` or `.env.*` where services run. For text that agents read; a person may see the secrets.
 */
export function envSecretMask(context: YardContext): (text: string) => string {
  // Most commands have nothing to mask and do not need to read the files.
  let mask: ((text: string) => string) | undefined;
  return (text) => (mask ??= secretMask(envSecrets(context)))(text);
}

function envSecrets(context: YardContext): readonly string[] {
  return [...envFiles(context)].flatMap((file) => assignmentsIn(textOf(file)).flatMap(secretsIn));
}

function envFiles(context: YardContext): ReadonlySet<string> {
  const { config } = context;
  const record = projectRecord(context);
  const running = Object.values(record?.services ?? {});
  const roots = new Set([
    config.root,
    ...Object.values(record?.worktrees ?? {}).map(({ path }) => join(path, prefixOf(config.root))),
    ...running.map(({ worktree }) => worktree),
  ]);
  const directories = [...roots].flatMap((root) => [
    root,
    ...config.services.map(({ cwd }) => join(root, cwd)),
  ]);
  const items = [...config.env.link, ...config.env.copy];
  return new Set([
    ...[...roots].flatMap((root) => items.map((item) => join(root, item))),
    ...directories.flatMap((directory) => envFilesIn(directory)),
  ]);
}

function envFilesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^\.env(?:\..+)?$/.test(name))
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readRegularFile(file, { maxBytes: LARGEST }).toString('utf8');
  } catch {
    return '';
  }
}

interface Assignment {
  readonly name: string;
  readonly value: string;
}

const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|`([^`]*)`|([^\r\n]*))/gm;

/** Quoted values may have several lines. */
function assignmentsIn(text: string): readonly Assignment[] {
  return [...text.matchAll(ASSIGNMENT)].map(([, name = '', double, single, back, plain = '']) => ({
    name,
    value:
      double?.replaceAll('\\n', '\n').replace(/\\(.)/g, '$1') ??
      single ??
      back ??
      withoutComment(plain).trim(),
  }));
}

function withoutComment(value: string): string {
  const start = value.search(/[ \t]#/);
  return start < 0 ? value : value.slice(0, start);
}

/** The parts of a value to hide. A file also has values that are not secret, such as host names. */
function secretsIn({ name, value }: Assignment): readonly string[] {
  const isSecret = isSecretName(name.replace(/auth/gi, '')) || /pwd|webhook/i.test(name);
  if (isSecret) return [value];
  const password = passwordIn(value);
  if (password !== undefined) return [password, decoded(password)];
  return looksRandom(value) ? [value] : [];
}

/** The password of a URL. The file is untrusted, so no expression here may backtrack over a value. */
function passwordIn(value: string): string | undefined {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(value)?.[1];
  const end = authority?.lastIndexOf('@') ?? -1;
  if (authority === undefined || end < 0) return undefined;
  const start = authority.indexOf(':');
  return start < 0 || start > end ? undefined : authority.slice(start + 1, end);
}

/** Matches `sk_live_51Hx…`, but no path, address or word. */
function looksRandom(value: string): boolean {
  return /^[\w+=-]{16,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
