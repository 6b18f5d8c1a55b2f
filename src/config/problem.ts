import { printableLine } from '../shared/printable.ts';

/**
 * Something wrong in a file: where, and what to do about it. Never contains a value from the file, which may be a
 * secret.
 */
export interface ConfigProblem {
  /** Keys and list positions from the top of the file. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The same problems with paths that start further up. */
export function withPathPrefix<T extends ConfigProblem>(
  prefix: ConfigProblem['path'],
  problems: readonly T[],
): T[] {
  return problems.map((problem) => ({ ...problem, path: [...prefix, ...problem.path] }));
}

/** Information about a key that prevents nothing. */
export interface Note extends ConfigProblem {
  readonly level: ConfigWarning['level'];
}

/** Something the user should know that does not stop us. */
export interface ConfigWarning {
  /** The file that it is about, absolute. */
  readonly file?: string;
  /** The location in that file, for example `mcpServers.github.env.TOKEN`. */
  readonly key?: string;
  readonly message: string;
  /** `info` for what is probably intended. */
  readonly level: 'warn' | 'info';
  /** The name of the server that cannot be used because of it. Default: none. */
  readonly server?: string;
  /** With `server`: the problem alone, without its consequence. */
  readonly why?: string;
  /** With `server`: the environment variables that have to be set. */
  readonly unset?: readonly string[];
  /** With `server`: the secrets that have to be set. */
  readonly unsetSecrets?: readonly string[];
}

/** The warning about something that makes a server unusable. */
export function unusableWarning(
  server: string,
  { file, path }: { readonly file: string; readonly path: ConfigProblem['path'] },
  why: string,
  { unset = [], unsetSecrets = [] }: Pick<ConfigWarning, 'unset' | 'unsetSecrets'> = {},
): ConfigWarning {
  const message = withConsequence(why, 'the server is not available');
  return {
    ...{ file, key: keyPath(path), message, level: 'warn', server, why },
    ...(unset.length === 0 ? {} : { unset }),
    ...(unsetSecrets.length === 0 ? {} : { unsetSecrets }),
  };
}

/** A problem and its consequence in one text. A message that is a complete sentence is followed by another one. */
export function withConsequence(message: string, consequence: string): string {
  if (!/[.?!]$/.test(message)) return `${message}; ${consequence}`;
  return `${message} ${consequence.charAt(0).toUpperCase()}${consequence.slice(1)}.`;
}

/** `FILE: key.path: what is wrong`, the common form of problems and warnings, on one line. */
export function describeWarning({
  file,
  key,
  message,
}: Pick<ConfigWarning, 'file' | 'key' | 'message'>): string {
  return printableLine([file, key, message].filter((part) => part !== undefined && part !== '').join(': '));
}

/** Several warnings as one sentence, without a full stop. */
export function joinedWarnings(warnings: readonly Pick<ConfigWarning, 'file' | 'key' | 'message'>[]): string {
  return warnings.map((warning) => describeWarning(warning).replace(/\.$/, '')).join('; ');
}

/** `mcpServers["my server"].args[0]` */
export function keyPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w$-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
