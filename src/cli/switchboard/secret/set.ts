import { SecretStore, secretNameProblem, secretValueProblem } from '../../../secrets/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import { readHidden } from '../../kit/read-hidden.ts';
import type { CliCommand } from '../command.ts';
import { notifiedText } from '../gateway/notify-gateways.ts';
import { RELOAD_FLAG, notifyOfSecret } from './notify-of-secret.ts';
import { placeText } from './place-text.ts';
import { readSecret } from './read-secret.ts';

export const secretSetCommand: CliCommand = {
  about: [
    'Asks for the value without showing it, or reads it from stdin if stdin is not a terminal; one line break at the ' +
      'end is removed. You cannot pass the value as an argument, because other users could see it and your shell ' +
      'would save it in its history.',
    'If the secret is already set, its value is replaced. Running gateways that read your configuration restart the ' +
      'servers that use it.',
  ],
  flags: [RELOAD_FLAG],
  examples: [
    ['$0 secret set GITHUB_TOKEN', 'ask for the value'],
    ['gh auth token | $0 secret set GITHUB_TOKEN', 'read it from another program'],
    ['$0 secret set TLS_KEY < key.pem', 'read it from a file'],
  ],
  async run(given, context) {
    const { env, variant, stop, status } = context;
    const [name, ...more] = given.words;
    const example = `For example: ${variant.program} secret set GITHUB_TOKEN`;
    if (name === undefined) throw invalid('secret set needs a name.', example);
    if (more.length > 0)
      throw invalid(
        'A value cannot be passed as an argument: other users could see it, and your shell saves it in its history.',
        `Replace the secret if it was real, and run: ${variant.program} secret set ${secretNameProblem(name) === undefined ? name : 'NAME'}`,
      );
    const nameProblem = secretNameProblem(name);
    if (nameProblem !== undefined)
      throw invalid(`${JSON.stringify(name.slice(0, 20))} cannot be the name of a secret.`, nameProblem);
    const value = process.stdin.isTTY
      ? await readHidden(`Value of ${name} (not shown): `, {
          input: process.stdin,
          output: process.stderr,
          signal: stop,
        })
      : await readSecret(process.stdin);
    const problem = secretValueProblem(value);
    if (problem !== undefined) throw invalid(problem, 'Nothing was stored.');
    const store = new SecretStore(env);
    status.show('Waiting for the keychain');
    const place = await store.set(name, value, stop);
    const { gateways, exitCode } = await notifyOfSecret(given, context);
    return {
      exitCode,
      data: { name, store: place.store, ...(place.why === undefined ? {} : { reason: place.why }), gateways },
      text: () =>
        `Stored ${name} in ${placeText(place.store, store.file)}. Refer to it with "\${secret:${name}}".\n` +
        (gateways.length === 0 ? '' : notifiedText(gateways)),
      remark:
        place.why === undefined || env.SWITCHBOARD_SECRET_STORE === 'file'
          ? ''
          : `${variant.program}: The keychain cannot be used: ${printableLine(place.why)}.\n`,
    };
  },
};

function invalid(message: string, hint: string): SwitchboardError {
  return new SwitchboardError('SECRET_INVALID', message, { hint });
}
