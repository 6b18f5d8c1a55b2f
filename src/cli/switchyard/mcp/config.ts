import { checkAlias, registerAlias } from '../../../switchyard/index.ts';
import type { YardCommand } from '../invocation.ts';
import {
  CLIENT_FLAG,
  CWD_FLAG,
  FORCE_FLAG,
  SERVER_NAME_FLAG,
  installTargetData,
  installTarget,
} from './install-target.ts';

export const yardMcpConfigCommand: YardCommand = {
  about: [
    'Registers the project under a name and prints the entry that a host needs to start its MCP server. The entry ' +
      'contains no project path, so it works wherever the host is started. No file of the host is changed: paste ' +
      'the entry, or use `switchyard mcp install`.',
  ],
  flags: [SERVER_NAME_FLAG, CLIENT_FLAG, FORCE_FLAG, CWD_FLAG],
  examples: [
    ['$0 mcp config', 'for Codex'],
    ['$0 mcp config --name shop', 'a second project'],
    ['$0 mcp config --client cursor', 'for another host'],
  ],
  async run(given, invocation) {
    const target = installTarget(given, invocation);
    const { name: alias, root, homeEnv: env } = target;
    const registration = { alias, root, env, force: given.flags.has('force') };
    await checkAlias(registration);
    await registerAlias(registration);
    return {
      data: { ok: true, registered: true, ...installTargetData(target) },
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
