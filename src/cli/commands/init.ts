import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withServer, withoutServer } from '../../config/index.ts';
import { findPlace, HOSTS, isPresent, readServers, type Host } from '../../hosts/index.ts';
import { usage, type Arguments } from '../arguments.ts';
import { changeConfig } from '../change-config.ts';
import type { Command, Context, Outcome } from '../command.ts';
import { confirm } from '../confirm.ts';
import { Exit } from '../failure.ts';
import { isOurs, surroundingsOf } from '../host-entries.ts';
import { prepareImport } from '../import-job.ts';
import { foundText, previewText } from '../import-text.ts';
import { writeStderr } from '../stderr.ts';
import { createStyle } from '../style.ts';
import { dryRun } from './dry-run.ts';
import { importServers } from './import.ts';
import { install } from './install.ts';

export const init: Command = {
  name: 'init',
  words: '',
  summary: 'start here: find your servers, write a configuration, tell your hosts',
  about: [
    'Looks for the MCP servers that your hosts have and offers to bring them over into a configuration in this ' +
      'directory; offers to add the Switchyard of a project that has a switchyard.toml; offers to let the hosts on this ' +
      'machine start Switchboard; and ends by showing what a host will see, and the tokens that saves.',
    'It asks before each step. --yes answers every question with yes. Each step can be undone: the old text of a ' +
      'configuration is kept as FILE.bak, and `$0 uninstall` takes our entry out of a host. The servers stay in your ' +
      'hosts until you take them out, or run `$0 import --takeover`.',
  ],
  flags: [
    { name: 'yes', short: 'y', summary: 'do all of it without asking' },
    { name: 'no-install', summary: 'leave the hosts as they are' },
    { name: 'no-start', summary: 'do not start the servers at the end to show their tools' },
  ],
  examples: [
    ['$0 init', 'step by step'],
    ['$0 init --yes --no-install', 'only write the configuration'],
    ['$0 init --yes --json', 'for a script'],
  ],
  exits: [[Exit.failed, 'a host or a server could not be used; the rest was done']],
  async run(given, context) {
    if (!given.flags.has('yes') && (!process.stdin.isTTY || !process.stderr.isTTY))
      throw usage(
        'init asks questions, and nobody can be asked here.',
        'Add --yes to answer all of them with yes.',
      );
    const agrees = asker(given, context);
    const imported = await bringOver(context, agrees);
    const yard = await addYard(context, agrees);
    const installed = given.flags.has('no-install') ? undefined : await tellHosts(context, agrees);
    const { file } = await context.loadConfig('quietly');
    const shown =
      file === undefined || given.flags.has('no-start') ? undefined : await dryRun.run(NOTHING, context);
    const outcomes = [imported, installed, shown].filter((each) => each !== undefined);
    return {
      exitCode: outcomes.some(({ exitCode }) => exitCode !== Exit.ok) ? Exit.failed : Exit.ok,
      data: {
        config: file ?? null,
        import: imported?.data ?? null,
        yard,
        install: installed?.data ?? null,
        dryRun: shown?.data ?? null,
      },
      remark: joined(outcomes.map(({ remark }) => remark)),
      complaint: joined(outcomes.map(({ complaint }) => complaint)),
      text: (style) =>
        [
          ...(imported === undefined ? [] : [imported.text(style)]),
          ...(yard ? ['The Switchyard of this project is there as "yard".\n'] : []),
          ...(installed === undefined ? [] : [installed.text(style)]),
          file === undefined ? nothing(context.face.program) : '',
          ...(shown === undefined ? [] : [shown.text(style)]),
        ]
          .filter((part) => part !== '')
          .join('\n'),
    };
  },
};

type Agrees = (question: string) => Promise<boolean>;

const NOTHING: Arguments = { flags: new Map(), lists: new Map(), words: [] };

function saying(words: readonly string[], ...flags: string[]): Arguments {
  return { flags: new Map(flags.map((flag) => [flag, ''])), lists: new Map(), words };
}

function asker({ flags }: Arguments, { stop }: Context): Agrees {
  if (flags.has('yes')) return () => Promise.resolve(true);
  const { stdin: input, stderr: output } = process;
  return (question) => confirm(question, { input, output, signal: stop });
}

/** The servers that hosts have, into the configuration. */
async function bringOver(context: Context, agrees: Agrees): Promise<Outcome | undefined> {
  const job = await prepareImport(NOTHING, context);
  const style = createStyle(process.stderr, context.env);
  if (!job.plan.servers.some(({ state }) => state === 'new' || state === 'clash')) {
    writeStderr(
      job.plan.servers.length === 0 ? 'No host on this machine has MCP servers.\n' : foundText(job, style),
    );
    return undefined;
  }
  writeStderr(`${foundText(job, style)}\n${previewText(job, style)}\n`);
  if (!(await agrees('Bring them over into this configuration?'))) return undefined;
  return importServers.run(saying([], 'yes'), context);
}

/** A project that has a Switchyard is offered it, without a process. Returns whether it was added. */
async function addYard(context: Context, agrees: Agrees): Promise<boolean> {
  const config = await context.loadConfig('quietly');
  if (!existsSync(join(config.directory, 'switchyard.toml'))) return false;
  if (
    config.servers.some((server) => 'builtin' in server) ||
    config.servers.some(({ name }) => name === YARD)
  )
    return false;
  if (!(await agrees('There is a switchyard.toml here. Let agents see and run its services, as "yard"?')))
    return false;
  const { done } = await changeConfig(config, NOTHING, context, (text) =>
    withoutServer(text, YARD) === text ? withServer(text, YARD, { builtin: 'switchyard' }) : text,
  );
  return done.changed;
}

const YARD = 'yard';

/** Our entry, into the hosts that are on this machine and do not have it. */
async function tellHosts(context: Context, agrees: Agrees): Promise<Outcome | undefined> {
  const { file } = await context.loadConfig('quietly');
  if (file === undefined) return undefined;
  const hosts = HOSTS.filter((host) => lacksUs(host, context));
  if (hosts.length === 0) {
    writeStderr('No host was found on this machine that does not have Switchboard already.\n');
    return undefined;
  }
  const titles = hosts.map(({ title }) => title).join(', ');
  if (!(await agrees(`Let these hosts start Switchboard: ${titles}?`))) return undefined;
  return install.run(saying(hosts.map(({ name }) => name)), context);
}

function lacksUs(host: Host, context: Context): boolean {
  const where = surroundingsOf(context);
  if (!isPresent(host, where) || findPlace(host, 'user', where) === undefined) return false;
  try {
    return !readServers(host, where, 'user').some(({ value }) => isOurs(value));
  } catch {
    // One whose file is broken is told about by `install`.
    return false;
  }
}

function nothing(program: string): string {
  return `No configuration was written. Add a server with \`${program} add\`, for example:\n  ${program} add memory -- npx -y @modelcontextprotocol/server-memory\n`;
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.filter(Boolean).join('') || undefined;
}
