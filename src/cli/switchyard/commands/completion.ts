import { usage } from '../../arguments.ts';
import { completionScript } from '../../completion/scripts.ts';
import { Exit } from '../../failure.ts';
import type { YardCommand } from '../command.ts';

export const yardCompletionCommand: YardCommand = {
  about: [
    'Prints a completion script for your shell. It completes commands, flags, branches, services and profiles ' +
      'for switchyard and sy by calling the program, so it never goes out of date.',
  ],
  flags: [],
  examples: [
    ['source <($0 completion bash)', 'for this bash session'],
    ["echo 'source <($0 completion bash)' >> ~/.bashrc", 'for every new bash session'],
    ['$0 completion zsh > ~/.zfunc/_switchyard', 'for zsh, if ~/.zfunc is in $fpath before compinit'],
    ['$0 completion fish > ~/.config/fish/conf.d/switchyard.fish', 'for fish'],
  ],
  run({ words: [shell] }) {
    const script = completionScript(shell ?? '', ['switchyard', 'sy']);
    if (script === undefined)
      throw usage(
        shell === undefined ? 'completion needs a shell.' : `Unknown shell ${JSON.stringify(shell)}.`,
        'Use bash, zsh or fish, for example: switchyard completion bash',
      );
    return Promise.resolve({ exitCode: Exit.ok, data: { shell, script }, text: () => script });
  },
};
