import { Exit } from '../../shared/exit-codes.ts';
import { didYouMean } from '../../shared/nearest.ts';
import {
  firstWordAt,
  parseArguments,
  repeatedFlag,
  usage,
  type Flag,
  type ParsedArguments,
} from './arguments.ts';
import type { Command, CommandEntry } from './command.ts';
import { writeFailure, writeOutcome, type OutputFormat } from './output.ts';
import { SIGNAL_EXIT, type StopSignal } from './signals.ts';

/** A program with commands; help, completion and usage errors come from this description. */
export interface Program<C> {
  readonly name: string;
  readonly commands: readonly CommandEntry<C>[];
  /** Flags that work without a command. */
  readonly topFlags: readonly Flag[];
  /** Flags that every command takes, before or after its name. */
  readonly commonFlags: readonly Flag[];
  readonly version: { readonly data: object; readonly text: string };
  /** The help of the whole program. */
  overview(): Promise<string>;
  help(entry: CommandEntry<C>, command: Command<C>): Promise<string>;
  /** A command that can be shown in examples, and one that prints JSON. */
  readonly examples: { readonly help: string; readonly json: string };
  /** What to add when a command is unknown. Default nothing. */
  readonly hint?: string | undefined;
  /** What to run without a command. Default: shows the help. */
  readonly alone?: () => Promise<Pick<Command<C>, 'run'>>;
  /** Throws USAGE if flags before the command cannot be combined with it. Default: never. */
  checkTop?(top: ParsedArguments, command: string | undefined): void;
  /** Throws USAGE if a command cannot be run like this. Default: never. */
  check?(entry: CommandEntry<C>, given: ParsedArguments): void;
  readonly output: OutputFormat;
  open(given: ParsedArguments, json: boolean): CommandRun<C>;
}

/** What one command runs with. */
export interface CommandRun<C> {
  readonly context: C;
  /** Resolves when a signal ends the command. Default: signals end the program. */
  readonly stopped?: Promise<StopSignal>;
  /** Called once the result is known, or cannot be. Default: does nothing. */
  readonly settled?: () => void;
  /** Ends what the command has started. Default: does nothing. */
  close?(): Promise<void>;
}

/** Runs the command that the arguments name, prints its outcome, and leaves nothing behind. Returns the exit code. */
export async function runCommandLine<C>(argv: readonly string[], program: Program<C>): Promise<number> {
  // Determined first, so that even a usage error is printed as JSON.
  const json = asksForJson(argv);
  let run: CommandRun<C> | undefined;
  try {
    const { command, given } = await resolveCommand(argv, program);
    run = program.open(given, json);
    const stopped = run.stopped ?? new Promise<never>(() => undefined);
    const running = command.run(given, run.context);
    running.catch(() => undefined); // After a signal, nothing waits for the command.
    const outcome = await Promise.race([running, stopped]).finally(run.settled);
    if (typeof outcome === 'string') return SIGNAL_EXIT[outcome];
    // What the command has started ends even while a slow reader reads.
    const ended = run.close?.();
    const signal = await Promise.race([writeOutcome(outcome, json, program.output), stopped]);
    await ended;
    return signal === undefined ? (outcome.exitCode ?? Exit.ok) : SIGNAL_EXIT[signal];
  } catch (error) {
    return await writeFailure(error, json, program.output);
  } finally {
    await run?.close?.();
  }
}

/** Words after `--` are for another program. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

interface Resolved<C> {
  readonly command: Pick<Command<C>, 'run'>;
  readonly given: ParsedArguments;
}

/** The command that the arguments name, and its own arguments. */
export async function resolveCommand<C>(argv: readonly string[], program: Program<C>): Promise<Resolved<C>> {
  const at = firstWordAt(argv, program.topFlags);
  const top = parseArguments(argv.slice(0, at), program.topFlags);
  const [name, ...rest] = argv.slice(at);
  program.checkTop?.(top, name);
  if (top.flags.has('version')) return answer(top, program.version);
  const standsFor = program.topFlags.find(
    (flag) => flag.runs !== undefined && top.flags.has(flag.name),
  )?.runs;
  if (standsFor !== undefined) return withCommand(standsFor, argv.slice(at), top, program);
  if (name === 'help') return withHelp(rest, top, program);
  if (name !== undefined) return withCommand(name, rest, top, program);
  if (top.flags.has('help')) return withHelp([], top, program);
  if (top.flags.has('json'))
    throw usage('--json needs a command.', `For example: ${program.name} ${program.examples.json}`);
  return program.alone === undefined
    ? withHelp([], top, program)
    : { command: await program.alone(), given: top };
}

async function withHelp<C>(
  rest: readonly string[],
  top: ParsedArguments,
  program: Program<C>,
): Promise<Resolved<C>> {
  const [name, more] = parseArguments(rest, program.commonFlags).words;
  if (more !== undefined)
    throw usage('help takes one command.', `For example: ${program.name} help ${program.examples.help}`);
  if (name === undefined || name === 'help') return helpAnswer(top, await program.overview());
  const entry = findEntry(name, program);
  return helpAnswer(top, await program.help(entry, await entry.load()));
}

async function withCommand<C>(
  name: string,
  rest: readonly string[],
  top: ParsedArguments,
  program: Program<C>,
): Promise<Resolved<C>> {
  const { entry, words } = await partOf(findEntry(name, program), rest, program);
  const command = await entry.load();
  if (top.flags.has('help')) return helpAnswer(top, await program.help(entry, command));
  const typed = command.spellOut?.(words) ?? words;
  const own = parseArguments(typed, [...program.commonFlags, ...command.flags], command.commandAt);
  const again = [...own.flags.keys()].find((flag) => top.flags.has(flag));
  if (again !== undefined) throw repeatedFlag(again);
  const given = { ...own, flags: new Map([...top.flags, ...own.flags]) };
  if (given.flags.has('help')) return helpAnswer(given, await program.help(entry, command));
  program.check?.(entry, given);
  return { command, given };
}

/** The subcommand that the next word names, with all other words; the command itself if there is none. */
async function partOf<C>(
  entry: CommandEntry<C>,
  words: readonly string[],
  { commonFlags }: Program<C>,
): Promise<{ readonly entry: CommandEntry<C>; readonly words: readonly string[] }> {
  if (entry.parts === undefined) return { entry, words };
  const at = firstWordAt(words, [...commonFlags, ...(await entry.load()).flags]);
  const part = entry.parts.find(({ name }) => name === `${entry.name} ${words[at] ?? ''}`);
  return part === undefined ? { entry, words } : { entry: part, words: words.toSpliced(at, 1) };
}

function findEntry<C>(name: string, { name: program, commands, hint }: Program<C>): CommandEntry<C> {
  const entry = commands.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const names = commands.filter(({ hidden }) => hidden !== true).map((each) => each.name);
  const guess = didYouMean(name, [...names, 'help']);
  const all = `\`${program} --help\` lists all commands.`;
  throw usage(
    `Unknown command ${JSON.stringify(name)}.`,
    hint === undefined ? (guess ?? all) : [guess, hint, all].filter(Boolean).join(' '),
  );
}

function helpAnswer<C>(given: ParsedArguments, help: string): Resolved<C> {
  return answer(given, { data: { help }, text: help });
}

/** A command whose answer is already known. */
function answer<C>(given: ParsedArguments, { data, text }: Program<C>['version']): Resolved<C> {
  return { command: { run: () => Promise.resolve({ data, text: () => text }) }, given };
}
