import type { CommandResult, HostChangeRequest, HostChangeResult, HostInfo } from '../../../console/index.ts';
import { findHost, hostEnvironment, HOSTS, storedRecords } from '../../../hosts/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import { homeDirectory, stateDirectory } from '../../../shared/paths.ts';
import { scanHosts } from '../host/scan-hosts.ts';
import type { CliVariant } from '../variants.ts';
import { runHere, type CommandRunner } from './gateway-commands.ts';

interface HostsContext extends CommandRunner {
  readonly variant: CliVariant;
}

/** The hosts on this machine, with the user's files for them and their contents. */
export function listHosts({ env }: Pick<HostsContext, 'env'>): readonly HostInfo[] {
  const taken = new Set(storedRecords(stateDirectory(env)).map(({ record }) => record.file));
  const files = scanHosts(hostEnvironment({ cwd: homeDirectory(), env }));
  return HOSTS.flatMap(({ name, title }): HostInfo[] => {
    const own = files.filter(({ host, scope }) => host === name && scope === 'user');
    if (own.length === 0) return [];
    return [
      {
        id: name,
        title,
        files: own.map(({ file, exists, servers, ours, problem }) => ({
          path: file,
          scope: 'user',
          exists,
          servers,
          installed: ours.length > 0,
          takenOver: taken.has(file),
          problem: problem ?? null,
        })),
      },
    ];
  });
}

const COMMANDS: Readonly<Record<HostChangeRequest['change'], readonly string[]>> = {
  install: ['install'],
  uninstall: ['uninstall'],
  takeover: ['import', '--takeover', '--scope', 'user', '--user', '--yes'],
  eject: ['eject'],
};

/** Changes the files of a host, or shows what would change. */
export async function changeHost(
  { host, change }: HostChangeRequest,
  { variant, ...runner }: HostsContext,
  dryRun: boolean,
): Promise<HostChangeResult> {
  if (!Object.hasOwn(COMMANDS, change))
    throw new SwitchboardError('ARGS_INVALID', `Unknown change ${JSON.stringify(change)} of a host.`);
  const [command = '', ...flags] = COMMANDS[change];
  const argv = [command, findHost(host).name, ...flags, ...(dryRun ? ['--dry-run'] : [])];
  const said = await runHere(argv, variant, { cwd: homeDirectory(), ...runner });
  return { ...changesIn(said), done: !dryRun };
}

/** The files and notes in the output of one of these commands. */
function changesIn(said: CommandResult): Pick<HostChangeResult, 'files' | 'notes'> {
  const changes = ['hosts', 'configs', 'takeover', 'ejected', 'servers'].flatMap((key) => {
    const list = said[key];
    return Array.isArray(list) ? list.filter(isObject) : [];
  });
  const files = changes.flatMap(({ file, diff }) =>
    typeof file === 'string' && typeof diff === 'string' && diff !== '' ? [{ path: file, diff }] : [],
  );
  const notes = changes.flatMap(({ notes: own }) => (Array.isArray(own) ? own.map(String) : []));
  return { files, notes: [...new Set(notes.filter((note) => note !== ''))] };
}
