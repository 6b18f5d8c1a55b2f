import { SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { VERSION } from '../../shared/version.ts';
import { parseArguments, repeatedFlag, usage, type ParsedArguments } from '../arguments.ts';
import type { CommandOutcome } from '../command.ts';
import { YARD_TOP_FLAGS, YARD_FLAGS, type YardInvocation, type YardCommand } from './command.ts';
import { YARD_COMMANDS, type YardEntry } from './commands.ts';
import { inYard } from './in-yard.ts';
import { printYardFailure, printYardOutcome } from './print.ts';

/**
 * The program `switchyard`: runs the command in the arguments and prints its outcome. Returns the exit code.
 *
 * It is called often, so the common code is loaded in one piece, and of the rest only what the command needs.
 */
export async function yardMain(argv: readonly string[]): Promise<number> {
  if (argv[0] === '__complete') return complete(argv.slice(1));
  // Read before the other arguments, so that even usage errors are printed as JSON.
  const json = argv.slice(0, endOfFlags(argv)).includes('--json');
  try {
    const here = { cwd: currentDirectory(), env: process.env };
    const outcome = await understand(argv, {
      ...here,
      json,
      inYard: (work) => inYard(here, work),
      inRecordedYard: (work, project) => inYard({ ...here, project, orRecorded: true }, work),
    });
    await printYardOutcome(outcome, json);
    return outcome.exitCode;
  } catch (error) {
    return printYardFailure(error, json);
  }
}

/** A worktree may have been removed while a shell was in it. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new SwitchboardError('NO_DIRECTORY', 'The current directory no longer exists.', {
      hint: 'Change to an existing directory, for example: cd ~',
      cause,
    });
  }
}

function endOfFlags(argv: readonly string[]): number {
  const at = argv.indexOf('--');
  return at === -1 ? argv.length : at;
}

async function understand(argv: readonly string[], invocation: YardInvocation): Promise<CommandOutcome> {
  const found = argv.findIndex((word) => !word.startsWith('-'));
  const at = found === -1 ? argv.length : found;
  const top = parseArguments(argv.slice(0, at), YARD_TOP_FLAGS);
  const name = argv[at];
  const rest = argv.slice(at + 1);
  if (top.flags.has('version')) return answer({ switchyard: VERSION }, `switchyard ${VERSION}\n`);
  if (name === 'help') return help(rest);
  if (name === undefined) {
    if (invocation.json && !top.flags.has('help'))
      throw usage('--json needs a command.', 'For example: switchyard status --json');
    return help([]);
  }
  const { entry, words } = await partOf(findEntry(name), rest);
  const command = await entry.load();
  if (top.flags.has('help')) return helpOf(entry, command);
  const given = parseArguments(words, [...YARD_FLAGS, ...command.flags]);
  if (given.flags.has('help')) return helpOf(entry, command);
  if (top.flags.has('json') && given.flags.has('json')) throw repeatedFlag('json');
  refuseTooMany(entry, given);
  return command.run(given, invocation);
}

/** The subcommand named by the second word, with all other words; the command itself if there is none. */
async function partOf(
  entry: YardEntry,
  words: readonly string[],
): Promise<{ readonly entry: YardEntry; readonly words: readonly string[] }> {
  if (entry.parts === undefined) return { entry, words };
  const { flags } = await entry.load();
  for (let at = 0; at < words.length && words[at] !== '--'; at++) {
    const word = words[at]!;
    if (flags.some(({ name, value }) => value !== undefined && word === `--${name}`)) at++;
    else if (!word.startsWith('-')) {
      const part = entry.parts.find(({ name }) => name === `${entry.name} ${word}`);
      return part === undefined ? { entry, words } : { entry: part, words: words.toSpliced(at, 1) };
    }
  }
  return { entry, words };
}

function findEntry(name: string): YardEntry {
  const entry = YARD_COMMANDS.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const names = YARD_COMMANDS.filter(({ hidden }) => hidden !== true).map((each) => each.name);
  const guess = didYouMean(name, [...names, 'help']);
  throw usage(`Unknown command ${JSON.stringify(name)}.`, guess ?? '`switchyard --help` lists all commands.');
}

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

async function help(words: readonly string[]): Promise<CommandOutcome> {
  const given = parseArguments(words, YARD_FLAGS);
  const [name, more] = given.words;
  if (more !== undefined) throw usage('help takes one command.', 'For example: switchyard help up');
  if (name !== undefined && name !== 'help') {
    const entry = findEntry(name);
    return helpOf(entry, await entry.load());
  }
  const { yardOverview } = await import('./help.ts');
  const text = yardOverview();
  return answer({ help: text }, text);
}

async function helpOf(entry: YardEntry, command: YardCommand): Promise<CommandOutcome> {
  const { yardCommandHelp } = await import('./help.ts');
  const text = yardCommandHelp(entry, command);
  return answer({ help: text }, text);
}

function answer(data: unknown, text: string): CommandOutcome {
  return { exitCode: 0, data, text: () => text };
}

/** Never prints an error, because the user is in the middle of a line. */
async function complete(words: readonly string[]): Promise<number> {
  try {
    const { yardCandidates } = await import('./candidates.ts');
    const found = await yardCandidates(words, { cwd: process.cwd(), env: process.env });
    await printYardOutcome(answer(undefined, found.map((line) => `${line}\n`).join('')), false);
  } catch {
    // No completions.
  }
  return 0;
}
