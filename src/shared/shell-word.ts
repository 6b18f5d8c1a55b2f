/**
 * Quotes a name from outside as one shell word, for a command that a person may copy: a branch may be called
 * `a;reboot`. A plain name stays as it is. On Windows, the result is for `cmd` and PowerShell, or for PowerShell alone
 * if the name contains something that `cmd` expands even between quotes.
 */
export function shellWord(name: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return windowsWord(name);
  // Most words are ASCII and need no Unicode tables.
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
