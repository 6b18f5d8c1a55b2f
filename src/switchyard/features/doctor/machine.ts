import { readFileSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { isNodeAtLeast, OLDEST_NODE } from '../../../shared/node-version.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { gitIn } from '../../records/git/git.ts';
import { checkoutOf } from '../../records/git/repository.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { Home } from '../../records/state/home.ts';
import type { Finding } from './finding.ts';

/** Checks that need no project. */
export function examineMachine(home: Home): readonly Finding[] {
  return [...examineNode(), ...examineHome(home)];
}

/** Checks whether the machine has what this project needs. */
export async function examineNeeds(context: YardContext): Promise<readonly Finding[]> {
  return [...(await examineGit(context)), ...examineIpv6(context), ...examinePortRange(context)];
}

function examineNode(): readonly Finding[] {
  if (isNodeAtLeast(OLDEST_NODE)) return [];
  const what = `This is Node ${process.versions.node}; Switchyard needs ${OLDEST_NODE} or newer.`;
  return [{ level: 'error', what, next: 'Install a newer Node.' }];
}

/** Logs and copied env files must not be readable by other users. */
function examineHome({ root }: Home): readonly Finding[] {
  const stat = statSync(root, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isDirectory()) {
    const next = 'Move it, or set SWITCHYARD_HOME to another directory.';
    return [{ level: 'error', what: `The state home ${root} is not a directory.`, next }];
  }
  if ((stat.mode & 0o077) === 0) return [];
  const what = `Other users of this machine can read the state home ${root}.`;
  return [{ level: 'warning', what, next: `Run \`chmod 700 ${shellWord(root)}\`.` }];
}

async function examineGit({ config, env }: YardContext): Promise<readonly Finding[]> {
  try {
    await gitIn(config.root, env).try(['--version']);
  } catch {
    return [
      {
        level: 'error',
        what: 'git was not found on the PATH, so worktrees are not available.',
        next: 'Install git, or add it to PATH.',
      },
    ];
  }
  if (checkoutOf(config.root) !== undefined) return [];
  return [
    {
      level: 'warning',
      what: `${config.root} is not in a git repository, so it has only one branch, called "current".`,
      next: 'Run `git init` and make a first commit.',
    },
  ];
}

function examineIpv6({ config }: YardContext): readonly Finding[] {
  const present = Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => address === '::1'),
  );
  if (present) return [];
  const hosts = [
    { key: 'proxy.host', host: config.proxy.host },
    ...config.services.map(({ name, host }) => ({ key: `services.${name}.host`, host })),
  ];
  const wanting = hosts.filter(({ host }) => host === '::1').map(({ key }) => key);
  if (wanting.length > 0) {
    const what = `This machine has no IPv6 loopback, but ${wanting.join(' and ')} is ::1.`;
    return [{ level: 'error', what, next: 'Use 127.0.0.1 there, or enable IPv6.' }];
  }
  const what = 'This machine has no IPv6 loopback: checkouts listen on 127.0.0.1 only.';
  return [{ level: 'note', what, next: 'Nothing to do, unless a program requires ::1.' }];
}

/** The kernel uses ports of this range for outgoing connections, so they may be in use. */
function examinePortRange({ config }: YardContext): readonly Finding[] {
  const { start, end } = config.ports;
  const [first, last] = ephemeralPorts();
  if (first === undefined || last === undefined || end < first || start > last) return [];
  return [
    {
      level: 'warning',
      what:
        `[ports] ${start}-${end} overlaps ${first}-${last}, which this machine uses for outgoing ` +
        'connections; a service may find its port already in use.',
      next: `Choose a range below ${first}, for example 20000-29999.`,
    },
  ];
}

function ephemeralPorts(): readonly number[] {
  try {
    return readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1').trim().split(/\s+/).map(Number);
  } catch {
    return [];
  }
}
