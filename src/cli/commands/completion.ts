import { usage } from '../arguments.ts';
import type { CliCommand } from '../command.ts';
import { completionScript } from '../completion/scripts.ts';
import { Exit } from '../failure.ts';

export const completionCommand: CliCommand = {
  name: 'completion',
  words: '<bash|zsh|fish>',
  summary: 'print a shell completion script',
  about: [
    'Prints a completion script for your shell. It completes commands, flags and their values, servers ' +
      'and hosts by calling the program, so it never goes out of date.',
  ],
  flags: [],
  needsNoConfig: true,
  examples: [
    ['source <($0 completion bash)', 'for this bash session'],
    ["echo 'source <($0 completion bash)' >> ~/.bashrc", 'for every new bash session'],
    ['$0 completion zsh > ~/.zfunc/_$0', 'for zsh, if ~/.zfunc is in $fpath before compinit'],
    ['$0 completion fish > ~/.config/fish/conf.d/$0.fish', 'for fish'],
  ],
  run({ words: [shell, ...more] }, { variant: { program } }) {
    const names = program === 'switchboard' ? [program, 'mcp-switchboard'] : [program];
    const script = more.length > 0 ? undefined : completionScript(shell ?? '', names);
    if (script === undefined)
      throw usage(
        shell === undefined
          ? 'completion needs a shell.'
          : `Unknown shell ${JSON.stringify([shell, ...more].join(' '))}.`,
        `Use bash, zsh or fish, for example: ${program} completion bash`,
      );
    return Promise.resolve({ exitCode: Exit.ok, data: { shell, script }, text: () => script });
  },
};
