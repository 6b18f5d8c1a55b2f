import { SwitchboardError } from '../../shared/errors.ts';
import type { Command, Context, Outcome } from '../command.ts';
import { confirm } from '../confirm.ts';
import { describeFailure, Exit, failureData } from '../failure.ts';
import { HOST_DRY_RUN, HOST_NAMES, NAME_FLAG } from '../host-flags.ts';
import { prepareImport, type ImportDone, type ImportJob } from '../import-job.ts';
import { configDiff, doneText, foundText, hostDiff, previewText } from '../import-text.ts';
import { shownEntry } from '../shown-entry.ts';
import { writeStderr } from '../stderr.ts';
import { createStyle, plainStyle } from '../style.ts';
import { cannotTell, tellGateways, toldText } from '../tell-gateways.ts';

/** The word is one of the language, so the command goes by another name in here. */
export const importServers: Command = {
  name: 'import',
  words: '[host…]',
  summary: 'bring over the servers that hosts have',
  about: [
    `Reads the MCP servers that you have in your hosts (all of them, or those named: ${HOST_NAMES}) and writes ` +
      'them into the configuration of this directory, or the one that ' +
      '--config names. References to the environment become ${NAME}, whatever the host calls them. A server that is ' +
      'there already is left out, and one whose name is taken gets another name. Our own entry is never imported.',
    'First it shows what it found and what would change, and asks. --yes answers the question; without it and without a ' +
      'terminal, nothing is written.',
    'Secrets that stand in a host as they are go into the configuration as they are. With --secrets env they become ' +
      'references, and you are told which variables to set. They are never shown.',
    'With --takeover the servers are also taken out of the host, and our entry takes their place. What was there is kept ' +
      'in the state directory: `$0 eject` puts it back, to the byte where nobody has changed the file since.',
  ],
  flags: [
    { name: 'scope', value: 'user|project', summary: 'only your own files, or only those of this directory' },
    { name: 'only', value: 'NAME', many: true, summary: 'only the server of this name' },
    { name: 'secrets', value: 'keep|env', summary: 'what becomes of secrets (default keep)' },
    { name: 'takeover', summary: 'replace them in the host by our entry' },
    NAME_FLAG,
    { name: 'yes', short: 'y', summary: 'do it without asking' },
    { name: 'no-reload', summary: 'do not tell running gateways to read the configuration again' },
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 import', 'from all hosts; shows what there is, and asks'],
    ['$0 import cursor vscode --yes', 'from two of them, without a question'],
    ['$0 import claude-desktop --secrets env', 'and leave the secrets where only you put them'],
    ['$0 import claude-code --takeover', 'and let the host have Switchboard instead'],
    ['$0 import --only github --dry-run', 'look at one'],
  ],
  exits: [
    [Exit.failed, 'a file of a host could not be read or changed, or a running gateway could not be told'],
  ],
  async run(given, context) {
    const { flags } = given;
    const job = await prepareImport(given, context);
    const remark = remarkOf(job, context);
    if (!changesAnything(job) || flags.has('dry-run')) return { ...preview(job, true), remark };
    if (!flags.has('yes')) {
      if (!process.stdin.isTTY || !process.stderr.isTTY || flags.has('json')) {
        const why = `${context.face.program}: nothing was written, because nobody can be asked here. Add --yes to do it.\n`;
        return { ...preview(job, true), remark: remark + why };
      }
      const style = createStyle(process.stderr, context.env);
      writeStderr(`${foundText(job, style)}\n${previewText(job, style)}\n`);
      const { stdin: input, stderr: output } = process;
      if (!(await confirm('Write this?', { input, output, signal: context.stop })))
        return { ...preview(job, false), text: () => 'Nothing was written.\n', remark };
    }
    return finished(job, await job.apply(), given.flags.has('no-reload'), context, remark);
  },
};

function changesAnything({ edited, takeovers }: ImportJob): boolean {
  return edited.before !== edited.after || takeovers.some(({ change }) => change.before !== change.after);
}

function remarkOf({ problems }: ImportJob, { face }: Context): string {
  return problems.map((problem) => describeFailure(problem, face.program)).join('');
}

function preview(job: ImportJob, shows: boolean): Outcome {
  const changes = changesAnything(job);
  return {
    exitCode: job.problems.length > 0 ? Exit.failed : Exit.ok,
    data: {
      ...foundData(job),
      dryRun: true,
      config: { file: job.edited.file, changed: false, backup: null, diff: configDiff(job, plainStyle) },
      takeover: job.takeovers.map((takeover) => ({
        host: takeover.parts[0].place.host.name,
        file: takeover.change.file,
        removed: takeover.change.removed,
        diff: hostDiff(takeover, plainStyle),
      })),
    },
    text: (style) => {
      const found = foundText(job, style);
      if (!changes) return `${found}${job.plan.servers.length === 0 ? '' : '\nNothing is left to do.\n'}`;
      return shows ? `${found}\n${previewText(job, style)}` : found;
    },
  };
}

function finished(
  job: ImportJob,
  done: ImportDone,
  quiet: boolean,
  context: Context,
  remark: string,
): Outcome {
  const { program } = context.face;
  const failures = done.takeovers.flatMap(({ change }) =>
    change instanceof SwitchboardError ? [change] : [],
  );
  const changed = done.edited.before !== done.edited.after;
  const reason = !changed ? 'nothing has changed' : quiet ? '--no-reload' : cannotTell();
  const gateways = tellGateways({ ...job.config, file: done.edited.file }, context, reason);
  const untold = reason === undefined && gateways.some((each) => !each.told);
  return {
    exitCode: failures.length + job.problems.length > 0 || untold ? Exit.failed : Exit.ok,
    data: {
      ...foundData(job),
      dryRun: false,
      config: { file: done.edited.file, changed, backup: done.edited.backup ?? null },
      takeover: done.takeovers.map(({ parts: [{ place }], change }) => ({
        host: place.host.name,
        file: place.file,
        ...(change instanceof SwitchboardError
          ? { error: failureData(change) }
          : { removed: change.removed, backup: change.backup ?? null, record: change.record ?? null }),
      })),
      gateways,
    },
    remark: remark === '' ? undefined : remark,
    complaint: failures.map((failure) => describeFailure(failure, program)).join('') || undefined,
    text: (style) =>
      `${foundText(job, style)}\n${doneText(job, done, program)}${changed ? toldText(gateways) : ''}`,
  };
}

function foundData({ plan, variables }: ImportJob): object {
  return {
    servers: plan.servers.map(({ server, as, state, notes, variables: needed }) => ({
      host: server.place.host.name,
      scope: server.place.scope,
      file: server.place.file,
      ...(server.place.project === undefined ? {} : { project: server.place.project }),
      name: server.name,
      as,
      state,
      server: shownEntry(server.value),
      notes,
      variables: needed.map(({ name }) => name),
    })),
    variables,
  };
}
