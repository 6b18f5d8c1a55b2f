/** The longest line that cmd.exe accepts, in characters. */
export const longestCommandLine = 8191;

/**
 * The command line after `cmd.exe`: runs a batch file with these arguments, none of which is interpreted. It runs no
 * commands from the registry (/d), does not expand `!` (/v:OFF), and removes exactly the outer quotes (/s).
 */
export function batchArguments(file: string, args: readonly string[]): string {
  return `/d /e:ON /v:OFF /s /c "${[file, ...args].map(quoted).join(' ')}"`;
}

/**
 * Quotes one argument, both for cmd.exe and for the program that gets it from there. Within quotes, cmd.exe sees no
 * operators. A quote is doubled, which keeps the number of quotes even for cmd.exe and means one quote to a program.
 * Backslashes before a quote are doubled, as programs expect. A percent sign would start the name of a variable; after
 * an empty slice of the built-in variable `cd` it ends one instead.
 */
function quoted(text: string): string {
  const escaped = text
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replaceAll('%', '%%cd:~,%');
  return `"${escaped}"`;
}
