import { didYouMean } from '../../shared/nearest.ts';
import { switchyardUnsupported } from '../../shared/switchyard-platform.ts';
import { VERSION } from '../../shared/version.ts';
import { usage, type Flag, type ParsedArguments } from '../kit/arguments.ts';
import { runCommandLine, type Program } from '../kit/program.ts';
import { YARD_COMMANDS } from './commands.ts';
import { openInvocation, type YardEntry, type YardInvocation } from './invocation.ts';
import { yardFormat } from './output-format.ts';

/**
 * The program `switchyard`: runs the command in the arguments and prints its outcome. Returns the exit code.
 *
 * It is called often, so the common code is loaded in one piece, and of the rest only what the command needs.
 */
export async function yardMain(argv: readonly string[]): Promise<number> {
  if (argv[0] !== '__complete') return runCommandLine(argv, switchyard);
  const { complete } = await import('../kit/completion/candidates.ts');
  return complete(argv.slice(1), async () => {
    const { yardNames } = await import('./names.ts');
    return { ...switchyard, names: yardNames({ cwd: process.cwd(), env: process.env }) };
  });
}

const COMMON_FLAGS: readonly Flag[] = [
  { name: 'json', summary: 'print JSON' },
  { name: 'help', short: 'h', summary: 'show this help' },
];

export const switchyard: Program<YardInvocation> = {
  name: 'switchyard',
  commands: YARD_COMMANDS,
  topFlags: [...COMMON_FLAGS, { name: 'version', short: 'v', summary: 'print the version' }],
  commonFlags: COMMON_FLAGS,
  version: { data: { switchyard: VERSION }, text: `switchyard ${VERSION}\n` },
  overview: async () => (await import('./overview.ts')).yardOverview(),
  help: async (entry, command) => {
    const { commandHelp } = await import('../kit/help.ts');
    return commandHelp(entry, command, { program: 'switchyard', commonFlags: COMMON_FLAGS });
  },
  examples: { help: 'up', json: 'status --json' },
  // Help and version are shown everywhere.
  check: (entry, given) => {
    const unsupported = switchyardUnsupported();
    if (unsupported !== undefined) throw unsupported;
    refuseTooMany(entry, given);
  },
  output: yardFormat,
  open: (_given, json) => ({ context: openInvocation(json) }),
};

/** Rejects extra words, which were surely meant for something. */
function refuseTooMany({ name, words, parts }: YardEntry, given: ParsedArguments): void {
  if (parts !== undefined && given.words.length > 0) {
    const wanted = `${name} ${given.words[0]}`;
    const guess = didYouMean(
      wanted,
      parts.map((part) => part.name),
    );
    throw usage(
      `Unknown command ${JSON.stringify(wanted)}.`,
      guess ?? `\`switchyard help ${name}\` lists its commands.`,
    );
  }
  if (words.includes('…')) return;
  const taken = words === '' ? 0 : words.split(' ').length;
  if (given.words.length <= taken) return;
  const what = taken === 0 ? 'no arguments' : taken === 1 ? 'one argument' : `at most ${taken} arguments`;
  throw usage(
    `${name} takes ${what}, so ${JSON.stringify(given.words[taken])} is one too many.`,
    `Usage: switchyard ${name} ${words}`.trimEnd(),
  );
}
