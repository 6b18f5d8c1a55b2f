import type { ServerDefinition } from './definition.ts';
import { printableLine } from '../shared/printable.ts';
import { shellWord } from '../shared/shell-word.ts';

/** A command and its arguments in a form that may be shown. */
export interface RedactedCommand {
  /** Empty for a remote or built-in server. */
  readonly command: string;
  readonly args: readonly string[];
  /** The address of a remote server. */
  readonly url?: string;
  /** The name of a built-in server. */
  readonly builtin?: string;
  /** The project of the built-in server, if one is named. */
  readonly project?: string;
}

/**
 * The command line of a server, or its address, without secrets. References to environment variables are shown as
 * written; the values of `--token`, `api_key=` and the like, and the password of a URL, become `***`.
 */
export function redactCommand({ written }: Pick<ServerDefinition, 'written'>): RedactedCommand {
  if ('url' in written) return { command: '', args: [], url: written.url };
  if ('builtin' in written) {
    const { builtin, project } = written;
    return { command: '', args: [], builtin, ...(project === undefined ? {} : { project }) };
  }
  let hideNext = false;
  const show = (text: string): string => {
    const hidden = hideNext && !text.startsWith('-') && !text.startsWith('${');
    hideNext = SECRET_FLAG.test(text);
    if (hidden) return HIDDEN;
    const [assigned] = FLAG_ASSIGNMENT.exec(text) ?? [];
    if (assigned !== undefined) return assigned + HIDDEN;
    return text
      .replace(SECRET_ASSIGNMENT, (_, name: string) => `${name}=${HIDDEN}`)
      .replace(URL_PASSWORD, (_, before: string) => `${before}${HIDDEN}@`)
      .replace(BEARER, (_, word: string) => `${word} ${HIDDEN}`);
  };
  return { command: show(written.command), args: written.args.map(show) };
}

/** One line for a person, quoted as in a shell. */
export function commandText({ command, args, url, builtin, project }: RedactedCommand): string {
  if (url !== undefined) return printableLine(url);
  if (builtin !== undefined)
    return printableLine(`(built in: ${builtin}${project === undefined ? '' : ` of ${project}`})`);
  return [command, ...args].map((word) => quoted(printableLine(word))).join(' ');
}

const HIDDEN = '***';
const SECRET = String.raw`(?:token|secret|passw(?:or)?d|pass|pwd|api[-_]?key|access[-_]?key|private[-_]?key|auth|credentials?|bearer)`;
const SECRET_FLAG = new RegExp(`^-{1,2}(?:[\\w-]*[-_])?${SECRET}$`, 'i');
/** Up to a value that does not consist only of references. It may contain spaces. */
const FLAG_ASSIGNMENT = new RegExp(`^-{1,2}(?:[\\w-]*[-_])?${SECRET}=(?!(?:\\$\\{[^{}]*\\})*$)`, 'i');
const SECRET_ASSIGNMENT = new RegExp(
  `((?:^|[?&\\s])-{0,2}(?:[\\w-]*[-_])?${SECRET})=(?!\\$\\{)[^&\\s]+`,
  'gi',
);
const URL_PASSWORD = /(\b[a-z][\w+.-]{0,31}:\/\/[^/\s:@]*:)(?!\$\{)[^/\s@]+@/gi;
const BEARER = /\b(bearer|basic)\s+(?!\$\{)\S+/gi;

function quoted(word: string): string {
  return /^[\w@%+=:,./${}*-]+$/.test(word) ? word : shellWord(word);
}
