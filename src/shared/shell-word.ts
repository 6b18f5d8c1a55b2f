/**
 * A name from outside as one word for a shell, in a command that a person may copy: a branch may be called `a;reboot`.
 * What is plain stays as it is. On Windows this is for `cmd` and PowerShell, or for PowerShell alone where a name has
 * what `cmd` fills in even between quotes.
 */
export function shellWord(name: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return windowsWord(name);
  // Most words are ASCII, and need no tables of Unicode.
  const isPlain = /^[\w@%+:,./][\w@%+=:,./-]*$/.test(name);
  if (isPlain || /^[\p{L}\p{N}_@%+:,./][\p{L}\p{N}_@%+=:,./-]*$/u.test(name)) return name;
  return `'${name.replaceAll("'", `'\\''`)}'`;
}

function windowsWord(name: string): string {
  if (/^[\p{L}\p{N}_+:./\\][\p{L}\p{N}_+=:./\\-]*$/u.test(name)) return name;
  return /["$`%!\u201c\u201d\u201e]/.test(name) || name.endsWith('\\')
    ? `'${name.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`
    : `"${name}"`;
}
