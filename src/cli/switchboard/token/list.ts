import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { table } from '../../kit/table.ts';
import type { CliCommand } from '../command.ts';
import { withTokenStorage } from './token-storage.ts';

export const tokenListCommand: CliCommand = {
  about: ['Lists the names of the tokens and when they were created. The tokens themselves are not stored.'],
  flags: [],
  examples: [
    ['$0 token list', 'names and dates'],
    ["$0 token list --json | jq -r '.tokens[].name'", 'only the names'],
  ],
  async run({ words }, context) {
    const { variant } = context;
    if (words.length > 0)
      throw usage('token list takes no names.', `For example: ${variant.program} token list`);
    const { file, named } = await withTokenStorage(context, async (storage) => ({
      file: storage.file,
      named: await storage.read(),
    }));
    const tokens = named.map(({ name, createdAt }) => ({ name, createdAt }));
    return {
      data: { file, tokens },
      text: (style) => {
        if (tokens.length === 0)
          return `There are no named tokens. Create one with: ${variant.program} token create NAME\n`;
        const rows = tokens.map((token) => [printableLine(token.name), printableLine(token.createdAt)]);
        return table(['NAME', 'CREATED'], rows, style.bold, style.columns);
      },
    };
  },
};
