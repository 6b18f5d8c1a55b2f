import { findAnswer, PLAIN_WRITING, toolSummary, unknownServerAnswer } from '../../../exposure/index.ts';
import { clearLearned, learnedFile } from '../../../search/index.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { plain } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { counted } from '../../kit/text.ts';
import type { CliCommand } from '../command.ts';

export const searchCommand: CliCommand = {
  about: [
    'Finds tools of all configured servers by what they do, and prints what find_tool ("exposure": "search") would ' +
      'return to a model. Separate several searches with semicolons.',
    'Searches the tools that each server listed last. Only servers that have never been listed are started.',
    'Tools that models used after similar searches rank higher. The words that led to each tool are stored in the ' +
      'state directory on this machine; --clear-learned deletes them.',
  ],
  flags: [
    { name: 'server', value: 'SERVER', summary: 'search only the tools of this server' },
    { name: 'more', summary: 'show more tools' },
    { name: 'clear-learned', summary: 'delete the words that led to each tool' },
  ],
  examples: [
    ['$0 search "create an issue"', 'the best tools for this task'],
    ['$0 search "take a screenshot; press a button"', 'several searches'],
    ['$0 search screenshot --server chrome --more', 'one server'],
    ["$0 search screenshot --json | jq -r '.needs[0].tools[].tool'", 'all names, best first'],
    ['$0 search --clear-learned', 'delete what was learned'],
  ],
  exits: [[Exit.failed, 'no tool matches the words']],
  async run({ words, flags }, context) {
    const query = words.join(' ').trim();
    if (flags.has('clear-learned')) {
      if (query !== '') throw usage('--clear-learned takes no query.', 'Run it alone.');
      const cleared = clearLearned(learnedFile(stateDirectory(context.env)));
      return {
        data: { cleared },
        text: () => `Forgot the words that led to ${counted(cleared, 'tool')}.\n`,
      };
    }
    const { program } = context.variant;
    if (query === '')
      throw usage('search needs a query.', `For example: ${program} search "create an issue"`);
    const config = await context.loadConfig();
    const app = context.open(config);
    context.status.show('searching');
    const server = flags.get('server');
    const found = await app.findTools({ query, server });
    context.status.clear();
    if (found === undefined) {
      const names = config.servers.map(({ name }) => name);
      throw usage(plain(unknownServerAnswer(server ?? '', names)), `${program} list shows all servers.`);
    }
    const none = found.needs.every(({ tools }) => tools.length === 0);
    return {
      exitCode: none ? Exit.failed : Exit.ok,
      data: {
        query,
        needs: found.needs.map(({ need, tools }) => ({
          need,
          tools: tools.slice(0, MOST_TOOLS).map(({ server: owner, tool, score }) => ({
            tool: PLAIN_WRITING.path(owner, tool.name),
            server: owner,
            name: tool.name,
            score: Math.round(score * 1000) / 1000,
            signature: PLAIN_WRITING.signature(owner, tool),
            summary: toolSummary(tool, 240),
          })),
        })),
        notSearched: found.unlisted,
      },
      text: () => `${plain(findAnswer({ ...found, more: flags.has('more'), writing: PLAIN_WRITING }))}\n`,
    };
  },
};

/** With `--json`. */
const MOST_TOOLS = 50;
