import { randomBytes } from 'node:crypto';
import { SwitchboardError } from '../../../shared/errors.ts';
import { sha256 } from '../../../shared/sha256.ts';
import { usage } from '../../kit/arguments.ts';
import type { CliCommand } from '../command.ts';
import { OWN_TOKEN, type NamedToken } from './token-file.ts';
import { withTokenStorage } from './token-storage.ts';

export const tokenCreateCommand: CliCommand = {
  about: [
    'Prints a new random token with which a client can connect over HTTP. The token is shown only once: Switchboard ' +
      'stores only its hash. Running gateways accept it immediately; gateways that share a store, within a second.',
    'Names consist of letters, digits, ".", "_" and "-", and begin with a letter or a digit.',
  ],
  flags: [],
  examples: [
    ['$0 token create laptop', 'create a token and show it once'],
    ["$0 token create ci --json | jq -r '.token'", 'only the token, for a script'],
  ],
  async run({ words }, context) {
    const { variant } = context;
    const [name, ...more] = words;
    const example = `For example: ${variant.program} token create laptop`;
    if (name === undefined) throw usage('token create needs a name.', example);
    if (more.length > 0) throw usage('token create takes one name.', example);
    if (!NAME.test(name) || name === OWN_TOKEN)
      throw usage(
        `${JSON.stringify(name.slice(0, 80))} cannot be the name of a token.`,
        name === OWN_TOKEN
          ? 'Roles call the token of the gateway so. Choose another name.'
          : 'Use up to 64 letters, digits, ".", "_" and "-", and begin with a letter or a digit.',
      );
    const token = randomBytes(32).toString('base64url');
    const created: NamedToken = {
      name,
      sha256: sha256(token),
      createdAt: new Date().toISOString(),
    };
    const file = await withTokenStorage(context, async (storage) => {
      await storage.change((tokens) => {
        if (tokens.some((each) => each.name === name))
          throw new SwitchboardError('TOKEN_EXISTS', `There is a token named '${name}' already.`, {
            hint: `Choose another name, or revoke it first: ${variant.program} token revoke ${name}`,
          });
        return [...tokens, created];
      });
      return storage.file;
    });
    return {
      data: { name, token, createdAt: created.createdAt, file },
      text: () =>
        `Created the token '${name}'. Copy it now: it is not shown again.\n\n  ${token}\n\n` +
        'Clients send it as "Authorization: Bearer TOKEN". Running gateways accept it immediately.\n',
    };
  },
};

const NAME = /^[a-z0-9][\w.-]{0,63}$/i;
