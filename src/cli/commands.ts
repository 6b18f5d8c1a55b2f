import type { Command } from './command.ts';
import { namesItsConfig, type CliFace } from './face.ts';

export interface CommandEntry {
  readonly name: string;
  readonly words: string;
  readonly summary: string;
  /** Whether it is about a configuration that a program finds by itself. Default false. */
  readonly edits?: boolean;
  /** Whether it is about `switchboard` itself, in hosts and in folders; no other program has it. Default false. */
  readonly forHosts?: boolean;
  readonly load: () => Promise<Command>;
}

/** In the order of the help; each is loaded when it is called. */
const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'list',
    words: '',
    summary: 'the configured servers; starts none',
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'tools',
    words: '[server…]',
    summary: 'what the servers offer',
    load: async () => (await import('./commands/tools.ts')).tools,
  },
  {
    name: 'call',
    words: '<server> <tool> [key=value…]',
    summary: 'run a tool and print what it returns',
    load: async () => (await import('./commands/call.ts')).call,
  },
  {
    name: 'dry-run',
    words: '[server…]',
    summary: 'what a host would see, and the tokens that saves',
    load: async () => (await import('./commands/dry-run.ts')).dryRun,
  },
  {
    name: 'doctor',
    words: '[server…]',
    summary: 'what is wrong with the configuration, and what to do',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'auth',
    words: '[server]',
    summary: 'log in to a remote server, or out again',
    load: async () => (await import('./commands/auth.ts')).auth,
  },
  {
    name: 'add',
    words: '<name> (--url URL | -- <command> [args…])',
    summary: 'put a server into the configuration',
    edits: true,
    load: async () => (await import('./commands/add.ts')).add,
  },
  {
    name: 'remove',
    words: '<server>',
    summary: 'take a server out of the configuration',
    edits: true,
    load: async () => (await import('./commands/remove.ts')).remove,
  },
  {
    name: 'disable',
    words: '<server>',
    summary: 'turn a server off, and keep its entry',
    edits: true,
    load: async () => (await import('./commands/enable.ts')).disable,
  },
  {
    name: 'enable',
    words: '<server>',
    summary: 'turn a server on again',
    edits: true,
    load: async () => (await import('./commands/enable.ts')).enable,
  },
  {
    name: 'allow',
    words: '[path]',
    summary: "let this project's servers be used",
    edits: true,
    load: async () => (await import('./commands/allow.ts')).allow,
  },
  {
    name: 'deny',
    words: '[path]',
    summary: 'take back what allow has allowed',
    edits: true,
    load: async () => (await import('./commands/deny.ts')).deny,
  },
  {
    name: 'reload',
    words: '',
    summary: 'let running gateways read the configuration again',
    edits: true,
    load: async () => (await import('./commands/reload.ts')).reload,
  },
  {
    name: 'wrap',
    words: '<server>',
    summary: 'ask a server in plain words: a small model uses its tools',
    forHosts: true,
    load: async () => (await import('./commands/wrap.ts')).wrap,
  },
  {
    name: 'unwrap',
    words: '<server>',
    summary: 'undo wrap: a server with its own tools again',
    forHosts: true,
    load: async () => (await import('./commands/unwrap.ts')).unwrap,
  },
  {
    name: 'init',
    words: '',
    summary: 'start here: find your servers, write a configuration, tell your hosts',
    forHosts: true,
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'install',
    words: '[host…]',
    summary: 'let a host use Switchboard: Claude Code, Cursor, VS Code …',
    forHosts: true,
    load: async () => (await import('./commands/install.ts')).install,
  },
  {
    name: 'uninstall',
    words: '[host…]',
    summary: 'remove our entry from a host again',
    forHosts: true,
    load: async () => (await import('./commands/uninstall.ts')).uninstall,
  },
  {
    name: 'import',
    words: '[host…]',
    summary: 'bring over the servers that hosts have',
    forHosts: true,
    load: async () => (await import('./commands/import.ts')).importServers,
  },
  {
    name: 'eject',
    words: '[host…]',
    summary: 'undo a takeover: give hosts their servers back',
    forHosts: true,
    load: async () => (await import('./commands/eject.ts')).eject,
  },
  {
    name: 'completion',
    words: '<bash|zsh|fish>',
    summary: 'a script that lets the shell complete commands, flags and servers',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
];

/** The commands of a program. */
export function commandsOf(face: CliFace): readonly CommandEntry[] {
  return COMMANDS.filter(
    ({ edits, forHosts }) =>
      !(edits === true && namesItsConfig(face)) && !(forHosts === true && face.program !== 'switchboard'),
  );
}
