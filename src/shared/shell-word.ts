/**
 * A name from outside as one word for a shell, in a command that a person may copy: a branch may be called `a;reboot`.
 * What is plain stays as it is.
 */
export function shellWord(name: string): string {
  return PLAIN.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

const PLAIN = /^[\p{L}\p{N}_@%+:,./][\p{L}\p{N}_@%+=:,./-]*$/u;
