/** The longest line that cmd.exe accepts, in characters. */
export const longestCommandLine = 8191;

/**
 * The command line after `cmd.exe`: runs a batch file with these arguments, none of which is interpreted. No commands
 * from the registry (/d), nothing expanded by `!` (/v:OFF), and exactly the outer quotes removed (/s).
 */
export function batchArguments(file: string, args: readonly string[]): string {
  return `/d /e:ON /v:OFF /s /c "${[file, ...args].map(quoted).join(' ')}"`;
}

/**
 * One argument, for cmd.exe and for the program that gets it from there. Within quotes, cmd.exe sees no operators. A
 * quote is doubled, which leaves the number of quotes even for cmd.exe and means one quote for a program. Backslashes
 * before a quote are doubled, as programs expect. A percent sign would begin the name of a variable; behind an empty
 * part of the built-in variable `cd` it is the end of one instead.
 */
function quoted(text: string): string {
  const escaped = text
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replaceAll('%', '%%cd:~,%');
  return `"${escaped}"`;
}
