import { SecretStore } from '../../../secrets/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { table } from '../../kit/table.ts';
import type { CliCommand } from '../command.ts';

export const secretListCommand: CliCommand = {
  about: [
    'Lists the names of the secrets, where each is stored and when it was set. Values are never shown.',
  ],
  flags: [],
  examples: [
    ['$0 secret list', 'names, places and dates'],
    ["$0 secret list --json | jq -r '.secrets[].name'", 'only the names'],
  ],
  run({ words }, { env, variant }) {
    if (words.length > 0)
      throw usage('secret list takes no names.', `For example: ${variant.program} secret list`);
    const store = new SecretStore(env);
    const secrets = store.list();
    return Promise.resolve({
      data: { file: store.file, secrets },
      text: (style) => {
        if (secrets.length === 0)
          return `There are no secrets. Store one with: ${variant.program} secret set NAME\n`;
        const rows = secrets.map(({ name, store: place, changedAt }) => [
          printableLine(name),
          place === 'keychain' ? 'keychain' : printableLine(store.file),
          printableLine(changedAt),
        ]);
        return table(['NAME', 'STORED IN', 'SET'], rows, style.bold, style.columns);
      },
    });
  },
};
