import { splitWords } from '../shell-words.ts';
import { innerPathProblem } from './inner-path.ts';

export interface ShellSyntax {
  /** The shell syntax, as written. */
  readonly found: string;
  /** Equivalent keys of the service, for example `cwd = "api" and command = "npm start"`. */
  readonly instead: string;
}

/**
 * Shell syntax in a command, which has no effect because commands do not run in a shell. Quoted text is taken
 * literally.
 */
export function shellSyntaxIn(command: string): ShellSyntax | undefined {
  const bare = withoutQuoted(command);
  return (
    changesDirectory(command, bare) ??
    setsVariables(command, bare) ??
    usesVariables(command, bare) ??
    joins(command, bare)
  );
}

function changesDirectory(command: string, bare: string): ShellSyntax | undefined {
  const [start, blanks = '', written = ''] = /^(\s*cd\s+)(\S+)\s*(?:&&|;)\s*(?=\S)/.exec(bare) ?? [];
  if (start === undefined) return undefined;
  const directory = wordAt(command, blanks.length, written.length).replace(/^\.\/|\/$/g, '');
  const found = `cd ${directory}`;
  if (innerPathProblem(directory, 'it') !== undefined) return { found, instead: byShell(command) };
  return { found, instead: `cwd = ${toml(directory)} and ${asCommand(command.slice(start.length))}` };
}

function setsVariables(command: string, bare: string): ShellSyntax | undefined {
  const [start] = /^\s*(?:[A-Za-z_]\w*=\S*\s+)+(?=\S)/.exec(bare) ?? [];
  if (start === undefined) return undefined;
  const words = splitWords(command.slice(0, start.length));
  const [found = ''] = words;
  if (/[$`]/.test(start)) return { found, instead: byShell(command) };
  const entries = words.map((word) => {
    const at = word.indexOf('=');
    return `${word.slice(0, at)} = ${toml(word.slice(at + 1))}`;
  });
  return { found, instead: `env = { ${entries.join(', ')} } and ${asCommand(command.slice(start.length))}` };
}

const VARIABLE = /\$(?:\w+|\{\w+\})/;

/** Two of the variables have a placeholder. */
function usesVariables(command: string, bare: string): ShellSyntax | undefined {
  const found = VARIABLE.exec(bare)?.[0];
  if (found === undefined) return undefined;
  const filled = command.replace(
    /\$(?:(PORT|HOST)\b|\{(PORT|HOST)\})/g,
    (_, plain?: string, braced?: string) => `{${(plain ?? braced ?? '').toLowerCase()}}`,
  );
  const isEnough = filled !== command && shellSyntaxIn(filled) === undefined;
  return { found, instead: isEnough ? `command = ${toml(filled)}` : byShell(command) };
}

/** Operators count only as separate words: `http://host/?a=1&b=2` is an ordinary argument. */
const OPERATOR = /&&|\|\||\$\(|`|(?<=^|\s)(?:[|;&<]|\d?>{1,2}(?:&\d)?)(?=\s|$)|;(?=\s|$)/;

function joins(command: string, bare: string): ShellSyntax | undefined {
  const found = OPERATOR.exec(bare)?.[0];
  return found === undefined ? undefined : { found, instead: byShell(command) };
}

function asCommand(rest: string): string {
  return shellSyntaxIn(rest) === undefined ? `command = ${toml(rest)}` : byShell(rest);
}

function byShell(command: string): string {
  return `command = ${toml(`sh -c '${command.trim().replaceAll("'", `'\\''`)}'`)}`;
}

/** A TOML string, in the form with the fewest backslashes. */
function toml(text: string): string {
  const quoted = JSON.stringify(text.trim());
  return quoted.includes('\\') && !text.includes("'") ? `'${text.trim()}'` : quoted;
}

function wordAt(command: string, start: number, length: number): string {
  return splitWords(command.slice(start, start + length))[0] ?? '';
}

/** Code of another language in double quotes may contain dollar signs. */
const CODE = /(?:^|\s)(?:-\w*[ce]|--eval|--print|--command)\s/;
const MASK = '\0';

/**
 * The command with quoted characters masked one by one. In double quotes, where a shell expands variables, only
 * characters that would end a word or a command are masked.
 */
function withoutQuoted(command: string): string {
  const isCode = CODE.test(command);
  // An unclosed quote is reported elsewhere.
  return command.replace(/\\[^]|'[^']*(?:'|$)|"(?:\\[^]|[^"\\])*(?:"|\\?$)/g, (text) =>
    text.startsWith('"') && !isCode
      ? text.replace(/\\[^]|["\s;&|<>]/g, (each) => MASK.repeat(each.length))
      : MASK.repeat(text.length),
  );
}
