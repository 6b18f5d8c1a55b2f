import { dirname, resolve } from 'node:path';
import { everythingToAllow } from '../../../app/index.ts';
import { allowedFiles, allowFiles, refuseBroken, type NotAllowed, denyFiles } from '../../../config/index.ts';
import { printableLine, revealedLine } from '../../../shared/printable.ts';
import { statOf } from '../../../shared/regular-file.ts';
import { usage } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliCommand, Context } from '../command.ts';
import { readConfiguration } from '../configuration.ts';
import { confirm } from '../../kit/prompter.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { configPaths, notifyGateways, notifiedText } from '../gateway/notify-gateways.ts';

export const allowCommand: CliCommand = {
  summary: "show this project's servers and ask whether to allow them",
  about: [
    'A project may come from someone you do not trust, and its files name programs to start. So ' +
      '$CONFIG, .mcp.json, mcps/*/.mcp.json and mcp-descriptions.json have no effect until you allow them, ' +
      'and their servers are listed as "not allowed yet". This command shows what they would run, then asks.',
    'If a built-in Switchyard is configured, its services in this project are shown too, and its ' +
      'switchyard.toml is allowed with the rest.',
    'Each file is remembered with its content. If someone else changes it, you have to allow it again; ' +
      'changes made by `$0 add` and similar commands stay allowed. The programs themselves are not ' +
      'inspected.',
    'To allow all projects in a directory, set "allowProjects": ["~/src/**"] in your user file. ' +
      '--allow-project or SWITCHBOARD_ALLOW_PROJECT=1 allows everything for one run. `$0 deny` undoes it.',
  ],
  flags: [
    { name: 'yes', short: 'y', summary: 'do not ask' },
    { name: 'list', summary: 'list everything that is allowed' },
  ],
  examples: [
    ['$0 allow', "this directory's project"],
    ['$0 allow ~/src/app --yes', 'another project, without asking'],
    ['$0 allow --list', 'list everything that is allowed'],
    ["$0 allow --json </dev/null | jq '.runs'", 'list what would run, without allowing it'],
  ],
  exits: [[Exit.failed, 'nothing was allowed']],
  async run({ flags, words }, context) {
    if (flags.has('list')) return listOf();
    const directory = namedDirectory(words, 'allow', context);
    const config = await readConfiguration(
      flags.get('config'),
      { cwd: directory, env: context.env },
      context.variant,
      { allowProject: false },
    );
    const notAllowed = await everythingToAllow(config, context.env);
    if (notAllowed === undefined) return nothingToAllow(config.directory);
    // Nobody can say what a broken file would run.
    for (const { path } of config.notAllowed?.files ?? []) refuseBroken(path);
    const agreed = flags.has('yes') || (await agrees(notAllowed, flags.has('json'), context));
    if (!agreed) return notDone(notAllowed, context);
    await allowFiles(notAllowed.files);
    const gateways = await notifyGateways(configPaths(config), context);
    const names = notAllowed.files.map(({ path }) => path);
    return {
      data: { directory: notAllowed.directory, allowed: names, runs: notAllowed.runs, gateways },
      text: () =>
        `${flags.has('yes') ? described(notAllowed) : ''}Allowed ${printableLine(notAllowed.directory)}.\n` +
        (gateways.length === 0 ? '' : notifiedText(gateways)),
    };
  },
};

/** The project that is meant: a folder, or that of a file. */
function namedDirectory(words: readonly string[], command: string, { cwd, variant }: Context): string {
  const [word = '.', ...more] = words;
  if (more.length > 0)
    throw usage(`${command} takes one path.`, `For example: ${variant.program} ${command} .`);
  const path = resolve(cwd, word);
  const found = statOf(path);
  if (found === undefined) throw usage(`Path not found: ${path}.`, 'Check the path.');
  return found.isDirectory() ? path : dirname(path);
}

async function agrees(project: NotAllowed, json: boolean, { stop }: Context): Promise<boolean> {
  if (json || !process.stdin.isTTY) return false;
  process.stderr.write(described(project));
  return confirm('Allow it?', { input: process.stdin, output: process.stderr, signal: stop });
}

function described({ directory, files, runs }: NotAllowed): string {
  const lines = (texts: readonly string[]): string[] => texts.map((text) => `  ${revealedLine(text)}\n`);
  return [
    `The project ${revealedLine(directory)} would run:\n`,
    ...(runs.length === 0 ? ['  nothing\n'] : lines(runs)),
    'Defined in:\n',
    ...lines(files.map(({ path }) => path)),
  ].join('');
}

function nothingToAllow(directory: string): CommandOutcome {
  return {
    data: { directory, allowed: [], runs: [] },
    text: () => `Nothing to allow in ${printableLine(directory)}.\n`,
  };
}

function notDone(project: NotAllowed, { variant }: Context): CommandOutcome {
  const { directory, files, runs } = project;
  return {
    exitCode: Exit.failed,
    data: { directory, allowed: [], notAllowed: files.map(({ path }) => path), runs },
    text: () => (process.stdin.isTTY ? '' : described(project)),
    remark: `${variant.program}: Nothing was allowed.${process.stdin.isTTY ? '' : ' Add --yes to allow it.'}\n`,
  };
}

function listOf(): CommandOutcome {
  const files = allowedFiles();
  return {
    data: { files },
    text: () =>
      files.length === 0
        ? 'Nothing is allowed yet.\n'
        : files
            .map(
              ({ path, changed }) =>
                `${printableLine(path)}${changed ? ' (changed or deleted since)' : ''}\n`,
            )
            .join(''),
  };
}

export const denyCommand: CliCommand = {
  about: [
    'Undoes `$0 allow` for all files at or below the path. Gateways that run in the project of this ' +
      'directory reload and stop the servers of those files.',
  ],
  flags: [],
  examples: [
    ['$0 deny', "this directory's project"],
    ['$0 deny ~/src/app', 'another project'],
  ],
  async run({ words }, context) {
    const [path = '.', ...more] = words;
    if (more.length > 0)
      throw usage('deny takes one path.', `For example: ${context.variant.program} deny .`);
    const denied = await denyFiles(path);
    const gateways =
      denied.length === 0
        ? []
        : await notifyGateways(configPaths(await context.loadConfig('quietly')), context);
    return {
      data: { denied, gateways },
      text: () =>
        denied.length === 0
          ? `Nothing was allowed at or below ${printableLine(path)}.\n`
          : denied.map((file) => `No longer allowed: ${printableLine(file)}\n`).join('') +
            (gateways.length === 0 ? '' : notifiedText(gateways)),
    };
  },
};
