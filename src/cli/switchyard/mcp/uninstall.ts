import { plainEntry, uninstallEntry } from '../../../hosts/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { YardCommand } from '../invocation.ts';
import { CLIENT_FLAG, clientLocation, SERVER_NAME_FLAG } from './install-target.ts';

export const yardMcpUninstallCommand: YardCommand = {
  about: [
    'Removes the entry that `switchyard mcp install` wrote from the configuration of a host. If nothing ' +
      'else has changed, the file is restored byte for byte. The project stays registered.',
  ],
  flags: [
    SERVER_NAME_FLAG,
    CLIENT_FLAG,
    { name: 'dry-run', summary: 'show the changes without making them' },
  ],
  examples: [
    ['$0 mcp uninstall', 'from Codex'],
    ['$0 mcp uninstall --client cursor --name shop', 'from another host'],
  ],
  async run(given, invocation) {
    const name = given.flags.get('name') ?? 'switchyard';
    const at = clientLocation(given, invocation);
    const dryRun = given.flags.has('dry-run');
    const change = await uninstallEntry({
      location: at,
      name,
      isOurs: startsUs,
      stateDirectory: stateDirectory(invocation.env),
      dryRun,
    });
    const action = change.kind === 'taken' ? 'kept' : change.action;
    const message = {
      kept: `kept '${name}' in ${at.file}: it does not start switchyard`,
      removed: `${dryRun ? 'would remove' : 'removed'} '${name}' from ${at.file}`,
      absent: `'${name}' not found in ${at.file}`,
      added: '',
      updated: '',
      unchanged: '',
    }[action];
    return {
      exitCode: change.kind === 'taken' ? 1 : 0,
      data: {
        ok: change.kind !== 'taken',
        action,
        name,
        client: at.host.name,
        config_path: at.file,
        dry_run: dryRun,
      },
      text: () => `${message}\n`,
    };
  },
};

/** Whether an entry starts our server for a registered project. */
function startsUs(entry: unknown): boolean {
  const { args } = (plainEntry(entry) ?? {}) as { args?: unknown };
  return Array.isArray(args) && args.at(-2) === '--project' && args.at(-3) === 'mcp';
}
