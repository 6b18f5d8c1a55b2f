import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { usage } from '../../kit/arguments.ts';
import type { CliCommand } from '../command.ts';
import { withTokenStorage } from './token-storage.ts';

export const tokenRevokeCommand: CliCommand = {
  about: [
    'Deletes a token. Within a second, running gateways refuse it, end the sessions that were opened with it, and ' +
      'stop the servers that it used alone.',
  ],
  flags: [],
  examples: [
    ['$0 token list', 'list the names'],
    ['$0 token revoke laptop', 'revoke one'],
  ],
  async run({ words }, context) {
    const { variant } = context;
    const [name, ...more] = words;
    const list = `${variant.program} token list`;
    if (name === undefined) throw usage('token revoke needs a name.', `\`${list}\` lists the names.`);
    if (more.length > 0) throw usage('token revoke takes one name.', `\`${list}\` lists the names.`);
    await withTokenStorage(context, (storage) =>
      storage.change((tokens) => {
        const kept = tokens.filter((token) => token.name !== name);
        if (kept.length < tokens.length) return kept;
        const names = tokens.map((token) => token.name);
        throw new SwitchboardError(
          'TOKEN_UNKNOWN',
          `There is no token named ${JSON.stringify(name.slice(0, 80))}.`,
          { hint: didYouMean(name, names) ?? `\`${list}\` lists the names.` },
        );
      }),
    );
    return {
      data: { revoked: name },
      text: () => `Revoked the token '${name}'. Running gateways refuse it within a second.\n`,
    };
  },
};
