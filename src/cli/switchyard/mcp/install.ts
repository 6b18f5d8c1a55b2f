import { checkAlias, registerAlias } from '../../../switchyard/index.ts';
import { readText, installEntry } from '../../../hosts/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { YardCommand } from '../invocation.ts';
import {
  CLIENT_FLAG,
  clientLocation,
  CWD_FLAG,
  FORCE_FLAG,
  SERVER_NAME_FLAG,
  installTargetData,
  installTarget,
  type InstallTarget,
} from './install-target.ts';

export const yardMcpInstallCommand: YardCommand = {
  about: [
    'Registers the project under a name and writes the entry that starts its MCP server into the configuration ' +
      'of a host: Codex, or the one named by --client. The rest of that file stays the same, byte for ' +
      'byte; variables and approvals that you added to the entry are kept. A file that cannot be parsed is not ' +
      'touched.',
    '--dry-run prints the change without making it, and registers nothing.',
  ],
  flags: [
    SERVER_NAME_FLAG,
    CLIENT_FLAG,
    { name: 'dry-run', summary: "show the change to the host's configuration without making it" },
    FORCE_FLAG,
    CWD_FLAG,
  ],
  examples: [
    ['$0 mcp install', 'let Codex use this project'],
    ['$0 mcp install --client claude-code', 'let Claude Code use it'],
    ['$0 mcp install --name shop --dry-run', 'preview the change'],
  ],
  async run(given, invocation) {
    const dryRun = given.flags.has('dry-run');
    const force = given.flags.has('force');
    // Report a file that cannot be parsed before anything is registered.
    const target = installTarget(given, invocation, readText(clientLocation(given, invocation).file));
    const { name, root, at, entry, launch, homeEnv: env } = target;
    const registration = { alias: name, root, env, force };
    const would = await checkAlias(registration);
    const change = await installEntry({
      location: at,
      name,
      entry,
      notes: at.format === 'toml' ? launch.comments : undefined,
      // The name is that of the project, so any entry under it is for this server.
      isOurs: () => true,
      stateDirectory: stateDirectory(invocation.env),
      dryRun,
    });
    if (change.kind === 'taken') throw new Error('An entry of ours was treated as foreign.');
    if (dryRun) return dryOutcome(target, { replaces: would, force });
    await registerAlias(registration);
    const title = at.host.name === 'codex' ? 'Codex' : at.host.title;
    return {
      data: {
        ok: true,
        dry_run: false,
        registered: true,
        action: change.action,
        server_project: name,
        ...installTargetData(target),
      },
      text: () =>
        [
          `${change.action} ${title} MCP server '${name}' in ${at.file}`,
          `server project: ${name}`,
          ...(change.obstacle === undefined ? [] : [change.obstacle]),
          ...(change.action === 'unchanged' ? [] : [at.host.next.user]),
          '',
        ].join('\n'),
    };
  },
};

function dryOutcome(
  target: InstallTarget,
  { replaces, force }: { replaces: boolean; force: boolean },
): CommandOutcome {
  const { name, at, text } = target;
  return {
    data: {
      ok: true,
      dry_run: true,
      registered: false,
      would_register: name,
      would_replace: replaces,
      would_update: at.file,
      ...installTargetData(target),
    },
    text: () =>
      [
        `# would update ${at.file}`,
        `# would register this project as '${name}'`,
        '# dry run only: nothing was written, and the alias is not registered',
        ...(force
          ? [
              `# with --force: would ${replaces ? 'replace' : 'not have to replace'} another project of that name`,
            ]
          : []),
        '',
        text,
      ].join('\n'),
  };
}
