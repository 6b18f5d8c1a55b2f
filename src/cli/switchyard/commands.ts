import type { YardEntry } from './invocation.ts';
import { yardBriefCommand } from './project/brief.ts';

/** In the order of the help. The one that agents call first is loaded with the program, the others when they are called. */
export const YARD_COMMANDS: readonly YardEntry[] = [
  {
    name: 'init',
    words: '',
    summary: 'write a switchyard.toml for this repository',
    load: async () => (await import('./project/init.ts')).yardInitCommand,
  },
  {
    name: 'create',
    words: '<branch>',
    summary: 'create a worktree for a branch, with its env files',
    load: async () => (await import('./worktree/create.ts')).yardCreateCommand,
  },
  {
    name: 'up',
    words: '[branch] [service…]',
    summary: 'start services and wait until they are ready',
    load: async () => (await import('./service/up.ts')).yardUpCommand,
  },
  {
    name: 'status',
    words: '',
    summary: 'show running services and their addresses',
    load: async () => (await import('./service/status.ts')).yardStatusCommand,
  },
  {
    name: 'logs',
    words: '[branch] [service]',
    summary: 'show the output of services',
    load: async () => (await import('./service/logs.ts')).yardLogsCommand,
  },
  {
    name: 'checkout',
    words: '<branch> [service…]',
    summary: 'point the canonical ports to a branch',
    load: async () => (await import('./port/checkout.ts')).yardCheckoutCommand,
  },
  {
    name: 'uncheckout',
    words: '[branch] [service…]',
    summary: 'release the canonical ports',
    load: async () => (await import('./port/checkout.ts')).yardUncheckoutCommand,
  },
  {
    name: 'down',
    words: '[branch] [service…]',
    summary: 'stop services',
    load: async () => (await import('./service/down.ts')).yardDownCommand,
  },
  {
    name: 'restart',
    words: '[branch] [service…]',
    summary: 'stop services and start them again',
    load: async () => (await import('./service/restart.ts')).yardRestartCommand,
  },
  {
    name: 'where',
    words: '<service> [branch]',
    summary: 'show the address of a service, and which process listens there',
    load: async () => (await import('./service/where.ts')).yardWhereCommand,
  },
  {
    name: 'open',
    words: '<service> [branch]',
    summary: 'open a service in the browser',
    load: async () => (await import('./service/open.ts')).yardOpenCommand,
  },
  {
    name: 'brief',
    words: '[branch]',
    summary: 'show an overview of the project, for people and agents',
    load: () => Promise.resolve(yardBriefCommand),
  },
  {
    name: 'list',
    words: '',
    summary: 'list the worktrees of this repository',
    load: async () => (await import('./worktree/list.ts')).yardListCommand,
  },
  {
    name: 'remove',
    words: '<branch>',
    summary: 'stop a branch and delete its worktree; the branch itself is kept',
    load: async () => (await import('./worktree/remove.ts')).yardRemoveCommand,
  },
  {
    name: 'prune',
    words: '',
    summary: 'forget worktrees whose directory is gone',
    load: async () => (await import('./worktree/prune.ts')).yardPruneCommand,
  },
  {
    name: 'rename',
    words: '[name]',
    summary: 'change the name of this project on this machine',
    load: async () => (await import('./project/rename.ts')).yardRenameCommand,
  },
  {
    name: 'doctor',
    words: '',
    summary: 'find problems in the setup, and how to fix them',
    load: async () => (await import('./project/doctor.ts')).yardDoctorCommand,
  },
  {
    name: 'proxy',
    words: '<serve|stop>',
    summary: 'run or stop the proxy behind the named addresses; `up` starts it',
    load: async () => (await import('./daemon/proxy.ts')).yardProxyCommand,
  },
  {
    name: 'forward',
    words: '<serve>',
    summary: 'run the process behind checkout, which starts it automatically',
    hidden: true,
    load: async () => (await import('./daemon/forward.ts')).yardForwardCommand,
  },
  {
    name: 'mcp',
    words: '',
    summary: 'serve agents over MCP, on stdin and stdout',
    load: async () => (await import('./mcp/serve.ts')).yardMcpCommand,
    parts: [
      {
        name: 'mcp config',
        words: '',
        summary: 'register the project and print the entry for a host',
        load: async () => (await import('./mcp/config.ts')).yardMcpConfigCommand,
      },
      {
        name: 'mcp install',
        words: '',
        summary: 'register the project and add the entry to a host',
        load: async () => (await import('./mcp/install.ts')).yardMcpInstallCommand,
      },
      {
        name: 'mcp uninstall',
        words: '',
        summary: 'remove the entry from a host',
        load: async () => (await import('./mcp/uninstall.ts')).yardMcpUninstallCommand,
      },
      {
        name: 'mcp projects',
        words: '',
        summary: 'list the registered projects',
        load: async () => (await import('./mcp/projects.ts')).yardMcpProjectsCommand,
      },
      {
        name: 'mcp unregister',
        words: '<name>',
        summary: 'unregister a project',
        load: async () => (await import('./mcp/projects.ts')).yardMcpUnregisterCommand,
      },
      {
        name: 'mcp smoke',
        words: '[project]',
        summary: 'test the MCP setup in temporary directories',
        load: async () => (await import('./mcp/smoke.ts')).yardMcpSmokeCommand,
      },
    ],
  },
  {
    name: 'skill',
    words: '<show|install>',
    summary: 'show or install instructions for agents',
    load: async () => (await import('./skill/skill.ts')).yardSkillCommand,
  },
  {
    name: 'completion',
    words: '<bash|zsh|fish>',
    summary: 'print a shell completion script',
    load: async () => {
      const { completionCommand } = await import('../kit/completion/command.ts');
      const completes = 'commands, flags, branches, services and profiles for switchyard and sy';
      return completionCommand(completes, ['switchyard', 'sy']);
    },
  },
];
