import { usage } from '../../arguments.ts';
import { Exit } from '../../failure.ts';
import type { YardCommand } from '../command.ts';

export const completion: YardCommand = {
  about: [
    'Prints a script for your shell. It completes commands, flags, branches, services and profiles, both for ' +
      'switchyard and for sy, by asking the program itself; nothing is kept anywhere.',
  ],
  flags: [],
  examples: [
    ['source <($0 completion bash)', 'for this bash only'],
    ['$0 completion bash >> ~/.bashrc', 'for every bash from now on'],
    ['$0 completion zsh > ~/.zfunc/_switchyard', 'for zsh, where ~/.zfunc is in $fpath before compinit'],
    ['$0 completion fish > ~/.config/fish/conf.d/switchyard.fish', 'for fish'],
  ],
  run({ words: [shell] }) {
    const script = SCRIPTS.get(shell ?? '');
    if (script === undefined)
      throw usage(
        shell === undefined
          ? 'completion needs a shell.'
          : `There is no script for ${JSON.stringify(shell)}.`,
        'Write switchyard completion bash, or zsh, or fish.',
      );
    return Promise.resolve({ exitCode: Exit.ok, data: { shell, script }, text: () => script });
  },
};

// `__complete` prints a candidate in each line, with what it means behind a tab; `:directories` leaves it to the shell.
// Git allows branches and tags called like a command in $(…). The others quote what they insert, bash has to be told.

const BASH = `# switchyard: completion for bash
_switchyard() {
  local line directories=
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ':directories' ]; then directories=yes
    else printf -v line %q "\${line%%$'\\t'*}"; COMPREPLY+=("$line")
    fi
  done < <("$1" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ -n "$directories" ]; then
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "\${COMP_WORDS[COMP_CWORD]}")
  fi
}
complete -F _switchyard switchyard sy
`;

const ZSH = `#compdef switchyard sy
# switchyard: completion for zsh
_switchyard() {
  local line
  local -a names lines
  while IFS= read -r line; do
    if [[ $line == ':directories' ]]; then _files -/; return; fi
    names+=("\${line%%$'\\t'*}")
    lines+=("\${\${line/$'\\t'/  -- }%  -- }")
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  (( \${#names} )) && compadd -l -d lines -a names
}
if [[ "\${funcstack[1]}" == _switchyard ]]; then _switchyard "$@"; else compdef _switchyard switchyard sy; fi
`;

const FISH = `# switchyard: completion for fish
function __switchyard_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l found ($before[1] __complete $before[2..-1] "$current" 2>/dev/null)
  if test "$found" = ':directories'
    __fish_complete_directories "$current" ''
  else
    printf '%s\\n' $found
  end
end
complete -c switchyard -f -a '(__switchyard_complete)'
complete -c sy -f -a '(__switchyard_complete)'
`;

const SCRIPTS = new Map([
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', FISH],
]);
