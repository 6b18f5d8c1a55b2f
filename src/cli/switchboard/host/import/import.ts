import { SwitchboardError } from '../../../../shared/errors.ts';
import { refuseContradictions, type ParsedArguments } from '../../../kit/arguments.ts';
import { notifyOfChange } from '../../config/change-config.ts';
import type { CommandOutcome } from '../../../kit/command.ts';
import type { CliCommand, Context } from '../../command.ts';
import { confirm } from '../../../kit/prompter.ts';
import { Exit } from '../../../../shared/exit-codes.ts';
import { describeFailure, failureData } from '../../../kit/output.ts';
import { HOST_DRY_RUN, HOST_NAMES, NAME_FLAG } from '../host-flags.ts';
import { prepareImport, type ImportDone, type ImportJob, SECRETS_FLAG } from './import-job.ts';
import { importDoneText, foundText, previewText } from './import-text.ts';
import { entryText, maskedDiff } from '../without-secrets.ts';
import { writeStderr } from '../../../kit/stderr.ts';
import { createStyle, plainStyle } from '../../../kit/style.ts';
import { notifiedText } from '../../gateway/notify-gateways.ts';

/** `import` is a reserved word, so the constant has another name. */
export const importCommand: CliCommand = {
  about: [
    `Copies the MCP servers of your hosts (all, or the named ones: ${HOST_NAMES}) into Switchboard's configuration: ` +
      'your own servers into your user file, those of a project into the project file. --user, --project ' +
      'or --config writes all of them to one file. References to environment variables become ' +
      '${NAME}. A server that already exists is skipped, even if its settings differ; if only its name is ' +
      'taken, it gets another name. The entry for Switchboard itself is never imported.',
    'Shows what was found and what would change, then asks. --yes skips the question; without --yes and ' +
      'without a terminal, nothing is written and the exit code is 2.',
    'Secrets are copied into your user file, which only you can read. In the project file, and with ' +
      '--secrets env, they become references, and the variables to set are listed. With --secrets store, ' +
      "they move to the system's keychain or, if it is not available, to a separate file (see `$0 secret`). " +
      'Values are never printed.',
    'With --takeover, an entry for Switchboard also replaces the servers in the host. `$0 eject` restores ' +
      'them; if nothing else has changed, it restores the file byte for byte. Files shared with a team (.mcp.json, ' +
      '.vscode/mcp.json, .cursor/mcp.json …) are taken over only with --scope project.',
  ],
  flags: [
    {
      name: 'scope',
      value: 'user|project',
      summary: "read only the hosts' user files, or only their files in this project",
    },
    { name: 'only', value: 'NAME', many: true, summary: 'import only this server' },
    { name: 'user', summary: 'write to your user file' },
    { name: 'project', summary: 'write to the project file' },
    SECRETS_FLAG,
    { name: 'takeover', summary: 'replace the servers in the host with Switchboard' },
    NAME_FLAG,
    { name: 'yes', short: 'y', summary: 'do not ask' },
    { name: 'no-reload', summary: 'do not reload running gateways' },
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 import', 'from all hosts; asks first'],
    ['$0 import cursor vscode --yes', 'from two hosts, without asking'],
    ['$0 import claude-desktop --secrets store', 'with its secrets moved to the keychain'],
    ['$0 import claude-code --takeover', 'and use Switchboard in the host'],
    ['$0 import --only github --dry-run', 'preview one server'],
  ],
  exits: [[Exit.failed, 'a file could not be read or changed, or a running gateway could not be notified']],
  async run(given, context) {
    const { flags } = given;
    refuseContradictions(given, [
      ['user', 'project'],
      ['config', 'user'],
      ['config', 'project'],
    ]);
    const job = await prepareImport(given, context);
    const remark = remarkOf(job, context);
    if (!changesAnything(job) || flags.has('dry-run')) return { ...preview(job, true), remark };
    if (!flags.has('yes')) {
      if (!process.stdin.isTTY || !process.stderr.isTTY || flags.has('json')) {
        const why = `${context.variant.program}: Nothing was written, because there is no terminal to ask in. Add --yes to skip the question.\n`;
        return { ...preview(job, true), exitCode: Exit.usage, remark: remark + why };
      }
      const style = createStyle(process.stderr, context.env);
      writeStderr(`${foundText(job, style)}\n${previewText(job, style)}\n`);
      const { stdin: input, stderr: output } = process;
      if (!(await confirm('Write this?', { input, output, signal: context.stop })))
        return { ...preview(job, false), text: () => 'Nothing was written.\n', remark };
    }
    return { ...(await finished(job, await job.apply(), given, context)), remark };
  },
};

function changesAnything({ configs, takeovers }: ImportJob): boolean {
  return (
    configs.some(({ edited }) => edited.before !== edited.after) ||
    takeovers.some(({ change }) => change.before !== change.after)
  );
}

function remarkOf({ problems }: ImportJob, { variant }: Context): string {
  return problems.map((problem) => describeFailure(problem, variant.program)).join('');
}

function preview(job: ImportJob, shows: boolean): CommandOutcome {
  const changes = changesAnything(job);
  return {
    exitCode: job.problems.length > 0 ? Exit.failed : Exit.ok,
    data: {
      ...foundData(job),
      dryRun: true,
      configs: job.configs.map((config) => ({
        level: config.level,
        file: config.edited.file,
        changed: false,
        backup: null,
        diff: maskedDiff(config.edited, plainStyle),
      })),
      spared: job.spared,
      takeover: job.takeovers.map((takeover) => ({
        host: takeover.parts[0].location.host.name,
        file: takeover.change.file,
        removed: takeover.change.removed,
        diff: maskedDiff(takeover.change, plainStyle, takeover.parts[0].location),
      })),
    },
    text: (style) => {
      const found = foundText(job, style);
      if (!changes) return `${found}${job.servers.length === 0 ? '' : '\nNothing to do.\n'}`;
      return shows ? `${found}\n${previewText(job, style)}` : found;
    },
  };
}

async function finished(
  job: ImportJob,
  done: ImportDone,
  given: ParsedArguments,
  context: Context,
): Promise<CommandOutcome> {
  const { program } = context.variant;
  const failures = done.hosts.flatMap(({ change }) => (change instanceof SwitchboardError ? [change] : []));
  const changed = done.configs.some(({ edited }) => edited.before !== edited.after);
  const files = done.configs.map(({ edited }) => edited.file);
  const { gateways, exitCode } = await notifyOfChange({ changed, dryRun: false }, files, given, context);
  return {
    exitCode: failures.length + job.problems.length > 0 ? Exit.failed : exitCode,
    data: {
      ...foundData(job),
      dryRun: false,
      configs: done.configs.map(({ plan: { level }, edited }) => ({
        level,
        file: edited.file,
        changed: edited.before !== edited.after,
        backup: edited.backup ?? null,
      })),
      spared: job.spared,
      takeover: done.hosts.map(
        ({
          plan: {
            parts: [{ location }],
          },
          change,
        }) => ({
          host: location.host.name,
          file: location.file,
          ...(change instanceof SwitchboardError
            ? { error: failureData(change) }
            : { removed: change.removed, backup: change.backup ?? null, record: change.record ?? null }),
        }),
      ),
      gateways,
    },
    complaint: failures.map((failure) => describeFailure(failure, program)).join(''),
    text: (style) =>
      `${foundText(job, style)}\n${importDoneText(job, done, program)}${changed ? notifiedText(gateways) : ''}`,
  };
}

function foundData({ servers, variables }: ImportJob): object {
  return {
    servers: servers.map(({ server, as, state, notes, variables: needed }) => ({
      host: server.location.host.name,
      scope: server.location.scope,
      file: server.location.file,
      ...(server.location.project === undefined ? {} : { project: server.location.project }),
      name: server.name,
      as,
      state,
      server: entryText(server.value),
      notes,
      variables: needed.map(({ name }) => name),
    })),
    variables,
  };
}
