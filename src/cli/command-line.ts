import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { ServerDefinition } from '../config/index.ts';
import { printableLine } from '../shared/printable.ts';

/** A command and its arguments as a person may see them. */
export interface ShownCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The command line of a server without the secrets in it. Values of the environment that a reference put there become
 * `${NAME}` again; what stands behind `--token`, `api_key=` and the like, and the password of a URL, becomes `***`.
 */
export function shownCommand(
  server: Pick<ServerDefinition, 'command' | 'args' | 'env'>,
  env: NodeJS.ProcessEnv,
): ShownCommand {
  const values = secretValues({ ...env, ...server.env });
  let hideNext = false;
  const show = (text: string): string => {
    const hidden = hideNext && !text.startsWith('-');
    hideNext = SECRET_FLAG.test(text);
    if (hidden) return HIDDEN;
    let shown = text;
    for (const [name, value] of values) shown = shown.replaceAll(value, () => `\${${name}}`);
    return shown
      .replace(SECRET_ASSIGNMENT, (_, name: string) => `${name}=${HIDDEN}`)
      .replace(URL_PASSWORD, (_, before: string) => `${before}${HIDDEN}@`)
      .replace(BEARER, (_, word: string) => `${word} ${HIDDEN}`);
  };
  return { command: show(server.command), args: server.args.map(show) };
}

/** One line for a person, quoted as a shell would need it. */
export function commandText({ command, args }: ShownCommand): string {
  return [command, ...args].map((word) => quoted(printableLine(word))).join(' ');
}

const HIDDEN = '***';
const SECRET = String.raw`(?:token|secret|passw(?:or)?d|pass|pwd|api[-_]?key|access[-_]?key|private[-_]?key|auth|credentials?|bearer)`;
const SECRET_NAME = new RegExp(SECRET, 'i');
const SECRET_FLAG = new RegExp(`^-{1,2}(?:[\\w-]*[-_])?${SECRET}$`, 'i');
const SECRET_ASSIGNMENT = new RegExp(
  `((?:^|[?&\\s])-{0,2}(?:[\\w-]*[-_])?${SECRET})=(?!\\$\\{)[^&\\s]+`,
  'gi',
);
const URL_PASSWORD = /(\b[a-z][\w+.-]*:\/\/[^/\s:@]*:)(?!\$\{)[^/\s@]+@/gi;
const BEARER = /\b(bearer|basic)\s+(?!\$\{)\S+/gi;

/**
 * Names and values that may be secrets, the longest value first. Short ones and paths that exist are none, and would
 * only be found by chance; where the name says so, short ones count as well.
 */
function secretValues(env: NodeJS.ProcessEnv): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.length < (SECRET_NAME.test(name) ? 3 : 6)) continue;
    if (isAbsolute(value) && existsSync(value)) continue;
    found.push([name, value]);
  }
  return found.sort(([, a], [, b]) => b.length - a.length);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./${}*-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
