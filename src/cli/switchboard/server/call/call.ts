import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ServerError, type Listing, type LocalCallOptions } from '../../../../gateway/index.ts';
import type { App } from '../../../../app/index.ts';
import type { ServerDefinition } from '../../../../config/index.ts';
import { NATURAL_LANGUAGE } from '../../../../language/index.ts';
import { messageOf, SwitchboardError } from '../../../../shared/errors.ts';
import { didYouMean } from '../../../../shared/nearest.ts';
import { plain, plainLine, printableLine, quoted } from '../../../../shared/printable.ts';
import { usage, type ParsedArguments } from '../../../kit/arguments.ts';
import type { CommandOutcome } from '../../../kit/command.ts';
import type { CliCommand, Context } from '../../command.ts';
import { Exit } from '../../../../shared/exit-codes.ts';
import { describeFailure, failureData } from '../../../kit/output.ts';
import { confirm } from '../../../kit/prompter.ts';
import { writeStderr } from '../../../kit/stderr.ts';
import { outputDirectory, saveMedia } from './save-media.ts';
import { probedTools, rulesOf, type ProbedTool } from '../probe-servers.ts';
import { missingArguments, readJsonArguments, readPairs } from './tool-arguments.ts';
import { resultText } from './tool-result.ts';
import { unreportedStderr } from '../../server-output.ts';
import { selectServer } from '../select-servers.ts';
import { printedLines } from '../../../kit/text.ts';

export const callCommand: CliCommand = {
  about: [
    'Starts the server or connects to it, runs one tool, prints the result and stops the server. Text ' +
      'goes to stdout. Images and audio are saved to new files, whose paths are printed. --json prints the ' +
      'result as the server returned it and saves files only with --output.',
    "key=value is converted according to the tool's schema: numbers, true and false, JSON for objects and " +
      'arrays, otherwise text. A repeated key becomes an array. key:=json is always JSON. --args takes all ' +
      'arguments as one JSON object: inline, from a file (@file) or from stdin (-).',
    'Name the tool as its server does, or as hosts see it. Preset arguments from the configuration are ' +
      'added. Progress goes to stderr. Ctrl-C cancels the call. A tool that needs approval ("approve" in the ' +
      'configuration) asks in the terminal first.',
  ],
  flags: [
    { name: 'args', value: 'JSON', summary: 'all arguments as a JSON object, @FILE, or - for stdin' },
    {
      name: 'output',
      short: 'o',
      value: 'DIR',
      summary: 'directory to save images and audio in (default: a new temporary directory)',
    },
    { name: 'hidden', summary: 'call the tool even if the configuration hides it' },
    { name: 'yes', short: 'y', summary: 'run a tool that needs approval without asking' },
  ],
  examples: [
    ['$0 call files read_text_file path=README.md head=5', 'text and a number'],
    ['$0 call files read_multiple_files paths=a.txt paths=b.txt', 'an array'],
    [
      '$0 call memory create_entities entities:=\'[{"name":"x","entityType":"y","observations":[]}]\'',
      'JSON for one key',
    ],
    ['echo \'{"path":"."}\' | $0 call files list_directory --args -', 'all arguments from stdin'],
    ['$0 call browser screenshot --output shots', 'an image, as shots/screenshot.png'],
    ["$0 call everything echo message=hi --json | jq '.content'", 'the result as JSON'],
  ],
  exits: [
    [Exit.failed, 'the tool returned an error, or the server failed during the call'],
    [Exit.notStarted, 'the server could not be started or reached'],
  ],
  async run(given, context) {
    const [server, tool, ...pairs] = given.words;
    if (server === undefined || tool === undefined) {
      throw usage(
        'call needs a server and a tool.',
        `For example: ${context.variant.program} call files list_directory path=.`,
      );
    }
    const json = given.flags.get('args');
    if (json !== undefined && pairs.length > 0) throw usage('Give either --args or key=value, not both.');
    // Checked before anything is started, so that a typo in the JSON costs no time.
    const whole = json === undefined ? undefined : readJsonArguments(...(await sourceOf(json, context)));
    const output = given.flags.get('output');
    const directory = output === undefined ? undefined : outputDirectory(output, context.cwd);
    const config = await context.loadConfig();
    const definition = selectServer(config, server);
    const app = context.open(config);
    context.status.show(`starting ${server}`);
    let listing: Listing;
    try {
      listing = await app.listTools(server);
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      // A server that cannot list its tools may still run this one.
      if (error.code !== 'LIST_FAILED') return failed(error, Exit.notStarted, server, context);
      listing = { components: [], byKey: new Map(), incomplete: error.message };
    }
    const found = find(tool, { app, server: definition, listing, program: context.variant.program });
    if (found.hidden && !given.flags.has('hidden')) throw hiddenTool(server, found.name);
    const args = { ...(whole ?? readPairs(pairs, found.inputSchema)), ...found.presets };
    const missing = missingArguments(args, found.inputSchema);
    // --args passes anything: a server may accept more than its schema.
    if (missing.length > 0 && whole === undefined) throw incomplete(found.name, missing);
    context.status.show(`${server} runs ${found.name}`);
    try {
      const result = await app.callTool(server, found.name, args, {
        signal: context.stop,
        onProgress: progressReporter(context),
        ...(given.flags.has('yes') || process.stdin.isTTY
          ? { onQuestion: approver(given.flags.has('yes'), context) }
          : {}),
      });
      const wanted = directory !== undefined || !given.flags.has('json');
      const saved = wanted ? saveMedia(result, { directory, tool: found.name }) : new Map<unknown, string>();
      const remark = given.flags.has('json') ? printedLines([...saved.values()]) : '';
      return { ...finished(result, saved, missing, context), remark };
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      const outcome = failed(error, Exit.failed, server, context);
      return { ...outcome, complaint: outcome.complaint + missingNote(missing) };
    }
  },
};

/** Asks the person at the terminal what a client would ask its user. */
function approver(yes: boolean, { status, stop }: Context): NonNullable<LocalCallOptions['onQuestion']> {
  return async ({ message }) => {
    if (yes) return ACCEPT;
    status.clear();
    // The caller has already made it safe to print, except for line breaks.
    process.stderr.write(`${plain(String(message))}\n`);
    const agreed = await confirm('Run it?', { input: process.stdin, output: process.stderr, signal: stop });
    return agreed ? ACCEPT : { action: 'decline' };
  };
}

const ACCEPT = { action: 'accept', content: { decision: 'once' } };

interface FoundTool {
  /** The server's own name for the tool. */
  readonly name: string;
  readonly hidden: boolean;
  /** Without preset arguments; undefined if the server did not specify it. */
  readonly inputSchema: unknown;
  readonly presets: Readonly<Record<string, unknown>> | undefined;
}

/** A server whose tools are searched. */
interface SearchedServer {
  readonly app: App;
  readonly server: ServerDefinition;
  readonly listing: Listing;
  readonly program: string;
}

/** The tool that a person means: by the server's own name for it, otherwise by the name that hosts use. */
function find(word: string, { app, server, listing, program }: SearchedServer): FoundTool {
  const tools = probedTools(app, server, listing);
  const { shapes } = server.tools;
  // The last condition matches the name that hosts use if another server has a tool with the same name.
  const byHosts = ({ exposed, offered }: ProbedTool): boolean =>
    [exposed, offered?.name, offered && `${server.name}__${offered.name}`].includes(word);
  const tool = tools.find((each) => each.name === word) ?? tools.find(byHosts);
  if (tool !== undefined) {
    const { name, own, offered } = tool;
    const { inputSchema } = (offered?.component ?? own).value;
    return { name, hidden: offered === undefined, inputSchema, presets: shapes.get(name)?.presets };
  }
  if (listing.incomplete === undefined) throw unknownTool(server.name, word, tools, program);
  const renamed = [...shapes].find(([, shape]) => shape.exposed === word)?.[0];
  const name = renamed ?? word;
  const hidden = !rulesOf(app, server).allows(name);
  return { name, hidden, inputSchema: undefined, presets: shapes.get(name)?.presets };
}

function hiddenTool(server: string, tool: string): SwitchboardError {
  const message = `The configuration hides the tool ${JSON.stringify(tool)} of ${JSON.stringify(server)}.`;
  return new SwitchboardError('TOOL_UNKNOWN', message, { hint: 'Add --hidden to call it anyway.' });
}

/** The JSON text of `--args` and its source. */
async function sourceOf(
  given: ParsedArguments['words'][number],
  { cwd }: Context,
): Promise<[text: string, source: string]> {
  if (given === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return [Buffer.concat(chunks).toString(), 'stdin'];
  }
  if (!given.startsWith('@')) return [given, '--args'];
  const file = resolve(cwd, given.slice(1));
  try {
    return [readFileSync(file, 'utf8'), file];
  } catch (error) {
    throw usage(`Cannot read the arguments: ${messageOf(error)}`);
  }
}

function unknownTool(
  server: string,
  tool: string,
  tools: readonly ProbedTool[],
  program: string,
): SwitchboardError {
  const names = tools.flatMap((each) => [each.name, each.exposed ?? each.name]);
  const spoken = tools.length === 1 && names[0] === NATURAL_LANGUAGE;
  const hint = spoken
    ? `Use natural language: ${program} call ${server} ${NATURAL_LANGUAGE} query="…"`
    : (didYouMean(tool, new Set(names)) ?? `${program} tools ${server} lists its tools.`);
  return new SwitchboardError(
    'TOOL_UNKNOWN',
    `The server ${JSON.stringify(server)} has no tool ${JSON.stringify(tool)}.`,
    { hint },
  );
}

function incomplete(tool: string, missing: readonly string[]): SwitchboardError {
  const what = missing.length === 1 ? 'the required argument' : 'the required arguments';
  return usage(
    `${JSON.stringify(tool)} needs ${what} ${missing.join(', ')}.`,
    `Add ${missing.map((each) => `${each.split(' ', 1).join('')}=…`).join(' ')}, or pass all arguments with --args JSON.`,
  );
}

function finished(
  result: Readonly<Record<string, unknown>>,
  saved: ReadonlyMap<unknown, string>,
  missing: readonly string[],
  { variant }: Context,
): CommandOutcome {
  const isError = result.isError === true;
  return {
    exitCode: isError ? Exit.failed : Exit.ok,
    data: result,
    text: () => resultText(result, saved),
    complaint: isError
      ? `${variant.program}: the tool returned an error.\n${missingNote(missing)}`
      : undefined,
  };
}

/** Added to an error of the server: arguments that its schema requires and that were missing. */
function missingNote(missing: readonly string[]): string {
  return missing.length === 0
    ? ''
    : `  Missing arguments that its schema requires: ${missing.map(plainLine).join(', ')}.\n`;
}

function failed(
  error: SwitchboardError,
  exitCode: number,
  server: string,
  context: Context,
): CommandOutcome & { readonly complaint: string } {
  const { program } = context.variant;
  const refused = error instanceof ServerError;
  const rpc = refused ? { rpcCode: error.rpcCode, data: error.data } : {};
  return {
    exitCode,
    data: { error: { ...failureData(error), ...rpc } },
    text: () => '',
    remark: unreportedStderr(context.unseenOutput(server), error),
    complaint: refused ? refusalText(error, server, program) : describeFailure(error, program),
  };
}

/** The server's own error message, marked as such. */
function refusalText({ message }: ServerError, server: string, program: string): string {
  const lines = plain(message).trim().split(/\r?\n/);
  const start = `${program}: ${printableLine(server)} said:`;
  return lines.length === 1
    ? `${start} ${quoted(message, 2000)}.\n`
    : `${start}\n${lines.map((line) => `  > ${line}\n`).join('')}`;
}

/** Shows progress in the status line of a terminal; elsewhere as lines, a few per second at most. */
function progressReporter({ status }: Context): (params: Readonly<Record<string, unknown>>) => void {
  let last = -Infinity;
  return ({ progress, total, message }) => {
    const of = typeof total === 'number' ? ` of ${total}` : '';
    const said = typeof message === 'string' ? `: ${plainLine(message)}` : '';
    const text = `progress ${typeof progress === 'number' ? progress : '?'}${of}${said}`;
    if (status.visible) status.show(text);
    else if (performance.now() - last >= PROGRESS_PAUSE) {
      last = performance.now();
      writeStderr(`${text}\n`);
    }
  };
}

/** In milliseconds. */
const PROGRESS_PAUSE = 200;
