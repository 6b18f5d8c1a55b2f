import type { CliCommand } from './command.ts';
import { requiresConfigFlag, type CliVariant } from './program-variant.ts';

export interface CommandEntry {
  readonly name: string;
  readonly words: string;
  readonly summary: string;
  /** Whether it is about a configuration that a program finds by itself. Default false. */
  readonly edits?: boolean;
  /** Whether it is about `switchboard` itself, in hosts and in folders; no other program has it. Default false. */
  readonly forHosts?: boolean;
  readonly load: () => Promise<CliCommand>;
}

/** In the order of the help; each is loaded when it is called. */
const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'list',
    words: '',
    summary: 'the configured servers; starts none',
    load: async () => (await import('./commands/list.ts')).listCommand,
  },
  {
    name: 'tools',
    words: '[server…]',
    summary: 'what the servers offer',
    load: async () => (await import('./commands/tools.ts')).toolsCommand,
  },
  {
    name: 'call',
    words: '<server> <tool> [key=value…]',
    summary: 'run a tool and print what it returns',
    load: async () => (await import('./commands/call.ts')).callCommand,
  },
  {
    name: 'dry-run',
    words: '[server…]',
    summary: 'what a host would see, and the tokens that saves',
    load: async () => (await import('./commands/dry-run.ts')).dryRunCommand,
  },
  {
    name: 'doctor',
    words: '[server…]',
    summary: 'what is wrong with the configuration, and what to do',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    name: 'auth',
    words: '[server]',
    summary: 'log in to a remote server, or out again',
    load: async () => (await import('./commands/auth.ts')).authCommand,
  },
  {
    name: 'add',
    words: '<name> (--url URL | -- <command> [args…])',
    summary: 'put a server into the configuration',
    edits: true,
    load: async () => (await import('./commands/add.ts')).addCommand,
  },
  {
    name: 'remove',
    words: '<server>',
    summary: 'take a server out of the configuration',
    edits: true,
    load: async () => (await import('./commands/remove.ts')).removeCommand,
  },
  {
    name: 'disable',
    words: '<server>',
    summary: 'turn a server off, and keep its entry',
    edits: true,
    load: async () => (await import('./commands/enable.ts')).disableCommand,
  },
  {
    name: 'enable',
    words: '<server>',
    summary: 'turn a server on again',
    edits: true,
    load: async () => (await import('./commands/enable.ts')).enableCommand,
  },
  {
    name: 'allow',
    words: '[path]',
    summary: "let this project's servers be used",
    edits: true,
    load: async () => (await import('./commands/allow.ts')).allowCommand,
  },
  {
    name: 'deny',
    words: '[path]',
    summary: 'take back what allow has allowed',
    edits: true,
    load: async () => (await import('./commands/deny.ts')).denyCommand,
  },
  {
    name: 'reload',
    words: '',
    summary: 'let running gateways read the configuration again',
    edits: true,
    load: async () => (await import('./commands/reload.ts')).reloadCommand,
  },
  {
    name: 'wrap',
    words: '<server>',
    summary: 'ask a server in natural language: a small model uses its tools',
    forHosts: true,
    load: async () => (await import('./commands/wrap.ts')).wrapCommand,
  },
  {
    name: 'unwrap',
    words: '<server>',
    summary: 'undo wrap: a server with its own tools again',
    forHosts: true,
    load: async () => (await import('./commands/unwrap.ts')).unwrapCommand,
  },
  {
    name: 'init',
    words: '',
    summary: 'start here: find your servers, write a configuration, tell your hosts',
    forHosts: true,
    load: async () => (await import('./commands/init.ts')).initCommand,
  },
  {
    name: 'install',
    words: '[host…]',
    summary: 'let a host use Switchboard: Claude Code, Cursor, VS Code …',
    forHosts: true,
    load: async () => (await import('./commands/install.ts')).installCommand,
  },
  {
    name: 'uninstall',
    words: '[host…]',
    summary: 'remove our entry from a host again',
    forHosts: true,
    load: async () => (await import('./commands/uninstall.ts')).uninstallCommand,
  },
  {
    name: 'import',
    words: '[host…]',
    summary: 'bring over the servers that hosts have',
    forHosts: true,
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  {
    name: 'eject',
    words: '[host…]',
    summary: 'undo a takeover: give hosts their servers back',
    forHosts: true,
    load: async () => (await import('./commands/eject.ts')).ejectCommand,
  },
  {
    name: 'completion',
    words: '<bash|zsh|fish>',
    summary: 'a script that lets the shell complete commands, flags and servers',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
];

/** The commands of a program. */
export function commandsOf(variant: CliVariant): readonly CommandEntry[] {
  return COMMANDS.filter(
    ({ edits, forHosts }) =>
      !(edits === true && requiresConfigFlag(variant)) &&
      !(forHosts === true && variant.program !== 'switchboard'),
  );
}
