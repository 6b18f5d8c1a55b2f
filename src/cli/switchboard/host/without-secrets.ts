import { documentSecrets, parseText, plainEntry, type FileChange } from '../../../hosts/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { secretMask } from '../../../shared/secrets.ts';
import { diff } from '../../kit/diff.ts';
import type { Style } from '../../kit/style.ts';
import { redactUrl } from '../../../config/index.ts';
import { commandText, redactCommand } from '../../../config/index.ts';

/** The diff of a file with secrets shown as `***`, including those in context lines. Our own files are JSON. */
export function maskedDiff(
  { file, before, after }: FileChange,
  style: Style,
  at: Parameters<typeof parseText>[1] = { format: 'jsonc' },
): string {
  const values = [before, after].flatMap((text) =>
    text === undefined ? [] : documentSecrets(parseText(text, at)),
  );
  const mask = secretMask(values);
  // A short value occurs in any text by chance; in quotes, it is probably the secret.
  const short = values.filter((value) => value.length < SHORT).map((value) => JSON.stringify(value));
  const masked = (text: string): string =>
    short.reduce((rest, value) => rest.replaceAll(value, '"***"'), mask(text));
  const shown = diff(file, before === undefined ? before : masked(before), masked(after ?? ''), style);
  if (shown !== '' || before === after) return shown;
  return `In ${printableLine(file)} only secret values would change.\n`;
}

/** Values shorter than this are not masked. */
const SHORT = 6;

/** An entry of any host in a form that may be shown: its command line or its address, without secrets. */
export function entryText(entry: unknown): string {
  const { command, args, httpUrl, url, serverUrl } = (plainEntry(entry) ?? {}) as Record<string, unknown>;
  const mask = secretMask(documentSecrets({ args }));
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.map(String) : [];
    return mask(commandText(redactCommand({ written: { command, args: words, cwd: '' } })));
  }
  const address = [httpUrl, url, serverUrl].find((each) => typeof each === 'string');
  if (address === undefined) return 'no command and no URL';
  return commandText({ command: '', args: [], url: redactUrl(address) });
}
