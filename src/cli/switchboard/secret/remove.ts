import { SecretStore } from '../../../secrets/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { usage } from '../../kit/arguments.ts';
import type { CliCommand } from '../command.ts';
import { notifiedText } from '../gateway/notify-gateways.ts';
import { RELOAD_FLAG, notifyOfSecret } from './notify-of-secret.ts';

export const secretRemoveCommand: CliCommand = {
  about: [
    'Deletes a secret. A server whose definition refers to it stays in the list and says what is missing, from the ' +
      'next start or reload on.',
  ],
  flags: [RELOAD_FLAG],
  examples: [
    ['$0 secret list', 'list the names'],
    ['$0 secret remove GITHUB_TOKEN', 'delete one'],
  ],
  async run(given, context) {
    const { env, variant, stop } = context;
    const [name, ...more] = given.words;
    const list = `\`${variant.program} secret list\` lists the names.`;
    if (name === undefined) throw usage('secret remove needs a name.', list);
    if (more.length > 0) throw usage('secret remove takes one name.', list);
    const store = new SecretStore(env);
    if (!(await store.remove(name, stop))) {
      const names = store.list().map((secret) => secret.name);
      throw new SwitchboardError(
        'SECRET_UNKNOWN',
        `There is no secret named ${JSON.stringify(name.slice(0, 80))}.`,
        { hint: didYouMean(name, names) ?? list },
      );
    }
    const { gateways, exitCode } = await notifyOfSecret(given, context);
    return {
      exitCode,
      data: { removed: name, gateways },
      text: () => `Removed the secret ${name}.\n${gateways.length === 0 ? '' : notifiedText(gateways)}`,
    };
  },
};
