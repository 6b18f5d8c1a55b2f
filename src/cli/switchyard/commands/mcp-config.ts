import { checkAlias, registerAlias } from '../../../switchyard/index.ts';
import type { YardCommand } from '../command.ts';
import { CLIENT, CWD, FORCE, NAME, targetData, targetOf } from '../setup/target.ts';

export const mcpConfig: YardCommand = {
  about: [
    'Registers the project under a name, and prints the entry by which an agent starts the MCP server for it. The entry ' +
      'holds no path of the project, so it works wherever the agent is started. Nothing of the agent is changed: paste ' +
      'the entry, or let `switchyard mcp install` do it.',
  ],
  flags: [NAME, CLIENT, FORCE, CWD],
  examples: [
    ['$0 mcp config', 'for Codex'],
    ['$0 mcp config --name shop', 'a second project beside the first'],
    ['$0 mcp config --client cursor', 'for another client'],
  ],
  async run(given, place) {
    const target = targetOf(given, place);
    const { name: alias, root, homeEnv: env } = target;
    const registration = { alias, root, env, force: given.flags.has('force') };
    await checkAlias(registration);
    await registerAlias(registration);
    return {
      exitCode: 0,
      data: { ok: true, registered: true, ...targetData(target) },
      text: () =>
        [
          `# registered this project as '${alias}'`,
          `# paste into ${target.at.file}, or run \`switchyard mcp install\``,
          '',
          target.text,
        ].join('\n'),
    };
  },
};
