import type { Context } from './command.ts';
import type { CommandEntry } from '../kit/command.ts';
import type { ProgramNames } from '../kit/completion/command.ts';
import { requiresConfigFlag, type CliVariant } from './variants.ts';

export interface CliEntry extends CommandEntry<Context> {
  /** Whether it is about a configuration that a program finds by itself. Default false. */
  readonly edits?: boolean;
  /** Whether it is about `switchboard` itself, in hosts and in folders; no other program has it. Default false. */
  readonly forHosts?: boolean;
  /** Whether it is about clients that connect, which not every program serves. Default false. */
  readonly forHttp?: boolean;
  /** Whether it works without a configuration where the program has none unless it is named. Default false. */
  readonly needsNoConfig?: boolean;
}

/** In the order of the help; each is loaded when it is called. */
const COMMANDS: readonly CliEntry[] = [
  {
    name: 'console',
    words: '',
    summary: 'open a page that shows all gateways, servers and calls',
    needsNoConfig: true,
    load: async () => (await import('./console/console.ts')).consoleCommand,
  },
  {
    name: 'status',
    words: '',
    summary: 'show running gateways, their servers and clients',
    needsNoConfig: true,
    load: async () => (await import('./gateway/status.ts')).statusCommand,
  },
  {
    name: 'logs',
    words: '[server]',
    summary: 'show the log of running gateways and their servers',
    needsNoConfig: true,
    load: async () => (await import('./gateway/logs.ts')).logsCommand,
  },
  {
    name: 'calls',
    words: '',
    summary: 'show the calls of clients, as they happen',
    needsNoConfig: true,
    load: async () => (await import('./gateway/calls.ts')).callsCommand,
    parts: [
      {
        name: 'calls cancel',
        words: '<call>',
        summary: 'cancel a running call',
        load: async () => (await import('./gateway/calls.ts')).callsCancelCommand,
      },
    ],
  },
  {
    name: 'list',
    words: '',
    summary: 'list the configured servers',
    load: async () => (await import('./server/list.ts')).listCommand,
  },
  {
    name: 'tools',
    words: '[server…]',
    summary: 'list the tools of the servers',
    load: async () => (await import('./server/tools.ts')).toolsCommand,
  },
  {
    name: 'call',
    words: '<server> <tool> [key=value…]',
    summary: 'run a tool and print what it returns',
    load: async () => (await import('./server/call/call.ts')).callCommand,
  },
  {
    name: 'search',
    words: '[query…]',
    summary: 'find tools of all servers by what they do',
    load: async () => (await import('./server/search.ts')).searchCommand,
  },
  {
    name: 'dry-run',
    words: '[server…]',
    summary: 'show what a host would see, and the tokens saved',
    load: async () => (await import('./server/dry-run.ts')).dryRunCommand,
  },
  {
    name: 'doctor',
    words: '[server…]',
    summary: 'find problems in the configuration, and how to fix them',
    load: async () => (await import('./server/doctor.ts')).doctorCommand,
  },
  {
    name: 'trust',
    words: '[server] [tool]',
    summary: 'show and approve tools that have changed',
    load: async () => (await import('./server/trust/trust.ts')).trustCommand,
  },
  {
    name: 'auth',
    words: '[server]',
    summary: 'log in to a remote server, or log out',
    load: async () => (await import('./server/auth.ts')).authCommand,
  },
  {
    name: 'add',
    words: '<name> (--url URL | -- <command> [args…])',
    summary: 'add a server to the configuration',
    edits: true,
    load: async () => (await import('./server/add/add.ts')).addCommand,
  },
  {
    name: 'remove',
    words: '<server>',
    summary: 'remove a server from the configuration',
    edits: true,
    load: async () => (await import('./server/remove.ts')).removeCommand,
  },
  {
    name: 'disable',
    words: '<server>',
    summary: 'disable a server and keep its entry',
    edits: true,
    load: async () => (await import('./server/enable.ts')).disableCommand,
  },
  {
    name: 'edit',
    words: '<server>',
    summary: 'show or change the entry of a server',
    edits: true,
    load: async () => (await import('./server/edit/edit.ts')).editCommand,
  },
  {
    name: 'enable',
    words: '<server>',
    summary: 'enable a disabled server',
    edits: true,
    load: async () => (await import('./server/enable.ts')).enableCommand,
  },
  {
    name: 'allow',
    words: '[path]',
    summary: "allow this project's servers",
    edits: true,
    load: async () => (await import('./project/allow.ts')).allowCommand,
  },
  {
    name: 'deny',
    words: '[path]',
    summary: "undo `allow`: this project's servers no longer start",
    edits: true,
    load: async () => (await import('./project/allow.ts')).denyCommand,
  },
  {
    name: 'reload',
    words: '',
    summary: 'reload the configuration in running gateways',
    edits: true,
    load: async () => (await import('./gateway/reload.ts')).reloadCommand,
  },
  {
    name: 'token',
    words: '',
    summary: 'manage the tokens of clients that connect over HTTP',
    forHttp: true,
    load: async () => (await import('./token/token.ts')).tokenCommand,
    parts: [
      {
        name: 'token create',
        words: '<name>',
        summary: 'create a token and show it once',
        load: async () => (await import('./token/create.ts')).tokenCreateCommand,
      },
      {
        name: 'token list',
        words: '',
        summary: 'list the names of the tokens',
        load: async () => (await import('./token/list.ts')).tokenListCommand,
      },
      {
        name: 'token revoke',
        words: '<token-name>',
        summary: 'revoke a token, including in running gateways',
        load: async () => (await import('./token/revoke.ts')).tokenRevokeCommand,
      },
    ],
  },
  {
    name: 'history',
    words: '',
    summary: 'show which tools were called, by which client, and the outcome',
    needsNoConfig: true,
    load: async () => (await import('./history/history.ts')).historyCommand,
  },
  {
    name: 'secret',
    words: '',
    summary: 'manage the secrets that the configuration refers to',
    needsNoConfig: true,
    load: async () => (await import('./secret/secret.ts')).secretCommand,
    parts: [
      {
        name: 'secret set',
        words: '<secret-name>',
        summary: 'store a secret; asks for its value',
        load: async () => (await import('./secret/set.ts')).secretSetCommand,
      },
      {
        name: 'secret list',
        words: '',
        summary: 'list the names of the secrets and where each is stored',
        load: async () => (await import('./secret/list.ts')).secretListCommand,
      },
      {
        name: 'secret remove',
        words: '<secret-name>',
        summary: 'delete a secret',
        load: async () => (await import('./secret/remove.ts')).secretRemoveCommand,
      },
    ],
  },
  {
    name: 'wrap',
    words: '<server>',
    summary: 'put a small language model in front of a server',
    forHosts: true,
    load: async () => (await import('./language/wrap.ts')).wrapCommand,
  },
  {
    name: 'unwrap',
    words: '<server>',
    summary: "undo `wrap`: expose the server's own tools again",
    forHosts: true,
    load: async () => (await import('./language/unwrap.ts')).unwrapCommand,
  },
  {
    name: 'init',
    words: '',
    summary: 'move the servers of your hosts behind Switchboard (start here)',
    forHosts: true,
    load: async () => (await import('./host/init/init.ts')).initCommand,
  },
  {
    name: 'install',
    words: '[host…]',
    summary: 'add Switchboard to a host (Claude Code, Cursor, VS Code …)',
    forHosts: true,
    load: async () => (await import('./host/install.ts')).installCommand,
  },
  {
    name: 'uninstall',
    words: '[host…]',
    summary: 'remove Switchboard from a host',
    forHosts: true,
    load: async () => (await import('./host/uninstall.ts')).uninstallCommand,
  },
  {
    name: 'import',
    words: '[host…]',
    summary: 'import the servers of your hosts',
    forHosts: true,
    load: async () => (await import('./host/import/import.ts')).importCommand,
  },
  {
    name: 'eject',
    words: '[host…]',
    summary: 'undo a takeover and restore the servers of a host',
    forHosts: true,
    load: async () => (await import('./host/eject.ts')).ejectCommand,
  },
];

/** The commands of a program. */
export function commandsOf(variant: CliVariant): readonly CliEntry[] {
  const { program } = variant;
  const own = COMMANDS.filter(
    ({ edits, forHosts, forHttp }) =>
      !(forHttp === true && variant.listens === undefined) &&
      !(edits === true && requiresConfigFlag(variant)) &&
      !(forHosts === true && program !== 'switchboard'),
  );
  return [...own, completion(program === 'switchboard' ? [program, 'mcp-switchboard'] : [program])];
}

function completion(names: ProgramNames): CliEntry {
  return {
    name: 'completion',
    words: '<bash|zsh|fish>',
    summary: 'print a shell completion script',
    needsNoConfig: true,
    load: async () => {
      const { completionCommand } = await import('../kit/completion/command.ts');
      return completionCommand('commands, flags and their values, servers and hosts', names);
    },
  };
}
