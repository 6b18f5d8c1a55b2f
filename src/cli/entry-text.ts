import { redactUrl } from '../config/index.ts';
import { plainEntry, documentSecrets } from '../hosts/index.ts';
import { secretMask } from '../shared/secrets.ts';
import { commandText, redactCommand } from './command-line.ts';

/** An entry of any host as a person may see it: its command line or its address, without secrets. */
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
