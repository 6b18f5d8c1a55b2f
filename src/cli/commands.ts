import type { Command } from './command.ts';

export interface CommandEntry {
  readonly name: string;
  readonly words: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** The commands, in the order of the help; each is loaded when it is called. */
export const COMMANDS: readonly CommandEntry[] = [
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
];
