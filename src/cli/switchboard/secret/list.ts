import { join } from 'node:path';
import { loadAuth } from '../../../app/index.ts';
import { SecretStore } from '../../../secrets/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { table } from '../../kit/table.ts';
import type { CliCommand } from '../command.ts';

export const secretListCommand: CliCommand = {
  about: [
    'Lists the names of the secrets, where each is stored and when it was set. Values are never shown.',
    'The logins to remote servers are listed too; to change them, use `$0 auth`.',
  ],
  flags: [],
  examples: [
    ['$0 secret list', 'names, places and dates'],
    ["$0 secret list --json | jq -r '.secrets[].name'", 'only the names'],
  ],
  async run({ words }, { env, variant }) {
    if (words.length > 0)
      throw usage('secret list takes no names.', `For example: ${variant.program} secret list`);
    const store = new SecretStore(env);
    const secrets = store.list();
    const directory = stateDirectory(env);
    const logins = (await loadAuth()).listLogins(directory);
    return {
      data: { file: store.file, secrets, logins },
      text: (style) => {
        if (secrets.length + logins.length === 0)
          return `There are no secrets. Store one with: ${variant.program} secret set NAME\n`;
        const rows = [
          ...secrets.map((secret) => ({ ...secret, kind: 'secret', file: store.file })),
          ...logins.map((login) => ({
            ...login,
            name: login.server,
            kind: 'login',
            file: join(directory, 'auth'),
          })),
        ].map(({ name, kind, store: place, file, changedAt }) => [
          printableLine(name),
          kind,
          place === 'keychain' ? 'keychain' : printableLine(file),
          printableLine(changedAt),
        ]);
        return table(['NAME', 'KIND', 'STORED IN', 'SET'], rows, style.bold, style.columns);
      },
    };
  },
};
