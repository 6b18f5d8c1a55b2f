import { usage } from '../arguments.ts';
import type { Command } from '../command.ts';

/** The names of a program, the main one first. */
export type ProgramNames = readonly [string, ...string[]];

/**
 * The command that prints a completion script for a shell. `completes` says what is completed; `names` are the names of
 * the program.
 */
export function completionCommand(completes: string, names: ProgramNames): Command<unknown> {
  return {
    about: [
      `Prints a completion script for your shell. It completes ${completes} by calling the program, so it never ` +
        'goes out of date.',
    ],
    flags: [],
    examples: [
      ['source <($0 completion bash)', 'for this bash session'],
      ["echo 'source <($0 completion bash)' >> ~/.bashrc", 'for every new bash session'],
      ['$0 completion zsh > ~/.zfunc/_$0', 'for zsh, if ~/.zfunc is in $fpath before compinit'],
      ['$0 completion fish > ~/.config/fish/conf.d/$0.fish', 'for fish'],
    ],
    run({ words: [shell, ...more] }) {
      const script = more.length > 0 ? undefined : completionScript(shell ?? '', names);
      if (script === undefined)
        throw usage(
          shell === undefined
            ? 'completion needs a shell.'
            : `Unknown shell ${JSON.stringify([shell, ...more].join(' '))}.`,
          `Use bash, zsh or fish, for example: ${names[0]} completion bash`,
        );
      return Promise.resolve({ data: { shell, script }, text: () => script });
    },
  };
}

/**
 * A script with which a shell completes the command line of a program, under all its names, by asking the program:
 * `PROGRAM __complete WORDS…` prints one candidate per line, with its meaning after a tab; `:files` and `:directories`
 * leave it to the shell. Undefined for an unknown shell.
 */
function completionScript(shell: string, names: ProgramNames): string | undefined {
  const [program] = names;
  const name = `_${program.replaceAll('-', '_')}`;
  switch (shell) {
    case 'bash':
      return bash(program, name, names.join(' '));
    case 'zsh':
      return zsh(program, name, names.join(' '));
    case 'fish':
      return fish(program, name, names);
    default:
      return undefined;
  }
}

// A name may look like $(…), for example that of a branch. zsh and fish quote what they insert; for bash we do it.

function bash(program: string, name: string, names: string): string {
  return `# ${program}: completion for bash
${name}() {
  local line shell=
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files) shell=-f ;;
      :directories) shell=-d ;;
      *) printf -v line %q "\${line%%$'\\t'*}"; COMPREPLY+=("$line") ;;
    esac
  done < <("$1" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ -n "$shell" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$shell" -- "\${COMP_WORDS[COMP_CWORD]}")
  fi
}
complete -F ${name} ${names}
`;
}

function zsh(program: string, name: string, names: string): string {
  return `#compdef ${names}
# ${program}: completion for zsh
${name}() {
  local line
  local -a names lines
  while IFS= read -r line; do
    case "$line" in
      :files) _files; return ;;
      :directories) _files -/; return ;;
    esac
    names+=("\${line%%$'\\t'*}")
    lines+=("\${\${line/$'\\t'/  -- }%  -- }")
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  (( \${#names} )) && compadd -l -d lines -a names
}
if [[ "\${funcstack[1]}" == _${program} ]]; then ${name} "$@"; else compdef ${name} ${names}; fi
`;
}

function fish(program: string, name: string, names: readonly string[]): string {
  return `# ${program}: completion for fish
function _${name}
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l found ($before[1] __complete $before[2..-1] "$current" 2>/dev/null)
  switch "$found"
    case ':files'
      __fish_complete_path "$current" ''
    case ':directories'
      __fish_complete_directories "$current" ''
    case '*'
      printf '%s\\n' $found
  end
end
${names.map((each) => `complete -c ${each} -f -a '(_${name})'\n`).join('')}`;
}
