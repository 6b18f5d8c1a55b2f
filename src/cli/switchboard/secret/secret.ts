import { usage } from '../../kit/arguments.ts';
import type { CliCommand } from '../command.ts';

export const secretCommand: CliCommand = {
  about: [
    'Keeps passwords, keys and tokens out of configuration files. Use ${secret:NAME} wherever a configuration ' +
      'accepts ${NAME}. See docs/guide/secrets.md.',
    "Secrets are stored in the system's keychain: macOS Keychain, Windows Credential Manager, or the Secret Service " +
      '(GNOME Keyring, KWallet) on Linux. If it is not available, they are stored in secrets.json in the configuration ' +
      'directory, which only you can read. To choose, set SWITCHBOARD_SECRET_STORE to "keychain" or "file".',
  ],
  flags: [],
  examples: [
    ['$0 secret set GITHUB_TOKEN', 'ask for the value and store it'],
    ['$0 secret set TLS_KEY < key.pem', 'read the value from a file'],
    ['$0 secret list', 'list names, and where each is stored'],
    ['$0 secret remove GITHUB_TOKEN', 'delete it'],
  ],
  run({ words: [word] }, { variant }) {
    const what =
      word === undefined ? 'secret needs a subcommand.' : `Unknown subcommand ${JSON.stringify(word)}.`;
    const command = `${variant.program} secret`;
    throw usage(what, `Use ${command} set NAME, ${command} list or ${command} remove NAME.`);
  },
};
