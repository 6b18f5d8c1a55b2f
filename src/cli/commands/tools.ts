import { describeWarning } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { plain, plainLine, printableLine } from '../../shared/printable.ts';
import type { CliCommand } from '../command.ts';
import { summarizeTool, type ToolSummary } from '../tool-summary.ts';
import { Exit, failureData, type FailureData } from '../failure.ts';
import { unreportedStderr } from '../unreported-stderr.ts';
import { noServersText } from '../no-servers.ts';
import { serverPresentation, presentationText, type Presentation } from '../presentation.ts';
import type { Style } from '../style.ts';
import { selectServers, probeServers, type UnmatchedSetting, type ProbedTool } from '../probe-servers.ts';

interface ShownTool extends ToolSummary {
  /** The name hosts call it by; null where they cannot. */
  readonly exposed: string | null;
  /** Whether the configuration keeps it from hosts. */
  readonly hidden: boolean;
  readonly definition: unknown;
}

interface ServerTools extends Presentation {
  readonly name: string;
  readonly tools?: readonly ShownTool[];
  /** What the model before it uses, where there is one. */
  readonly behind?: readonly ShownTool[];
  /** What the configuration says about tools that the server does not have. */
  readonly unmatched?: readonly UnmatchedSetting[];
  /** Why the list is not everything. */
  readonly incomplete?: string;
  readonly error?: FailureData;
}

export const toolsCommand: CliCommand = {
  name: 'tools',
  words: '[server…]',
  summary: 'list the tools of the servers',
  about: [
    'Starts the servers (all, or the named ones) and lists the tools of each with their input as a ' +
      'one-line signature: in `{path:string, limit?:integer=10}`, path is required and limit is optional.',
    'Tools have the names their servers give them, followed by the name hosts see if it differs. Tools ' +
      'hidden by expose, exposedTools or hiddenTools are marked "hidden". --json includes the full ' +
      'definitions.',
  ],
  flags: [],
  examples: [
    ['$0 tools', 'all servers'],
    ['$0 tools github', 'one server'],
    ["$0 tools github --json | jq '.servers[0].tools[] | .definition.inputSchema'", 'the full schemas'],
  ],
  async run({ words }, context) {
    const config = await context.loadConfig();
    const app = context.open(config);
    const probed = await probeServers(app, selectServers(config, words), context);
    const looks = await Promise.all(probed.map(({ server }) => serverPresentation(app, server, context.env)));
    const servers = probed.map((each, at): ServerTools => {
      const { server } = each;
      const head = { name: server.name, ...looks[at]! };
      if (each.kind === 'failed') return { ...head, error: failureData(each.error) };
      return {
        ...head,
        tools: each.tools.map((tool) => shownTool(tool, server.suite.summaryMaxChars)),
        ...(each.behind && {
          behind: each.behind.map((tool) => shownTool(tool, server.suite.summaryMaxChars)),
        }),
        ...(each.unmatched.length === 0 ? {} : { unmatched: each.unmatched }),
        ...(each.incomplete === undefined ? {} : { incomplete: each.incomplete }),
      };
    });
    const remarks = probed.map((each) =>
      each.kind === 'failed'
        ? unreportedStderr(context.unseenOutput(each.server.name), each.error)
        : undefined,
    );
    const unmatched = servers.flatMap((server) => server.unmatched ?? []);
    return {
      exitCode: probed.some((each) => each.kind === 'failed') ? Exit.failed : Exit.ok,
      data: { servers },
      remark: remarks.join('') || undefined,
      complaint:
        unmatched.map((setting) => `${context.variant.program}: ${describeWarning(setting)}\n`).join('') ||
        undefined,
      text: (style) =>
        servers.length === 0
          ? noServersText(context.variant, config)
          : servers
              .map((server, at) => serverText(server, presentationText(probed[at]!.server, server), style))
              .join('\n'),
    };
  },
};

function shownTool({ name, own, offered, exposed }: ProbedTool, summaryMaxChars: number): ShownTool {
  return {
    ...summarizeTool(offered?.component ?? own, summaryMaxChars),
    name,
    exposed: exposed ?? null,
    hidden: offered === undefined,
    definition: own.value,
  };
}

function serverText(
  { name, tools: offered, behind, incomplete, error }: ServerTools,
  presentation: string,
  style: Style,
): string {
  const head = `${style.bold(printableLine(name))} → ${presentation}`;
  if (error !== undefined) {
    const reason = new SwitchboardError(error.code, error.message, { hint: error.hint });
    return `${head}\n  ${style.bad('failed')}: ${plain(reason.explained)}\n`;
  }
  const line = ({ name: tool, input, summary, hidden, exposed }: ShownTool): string => {
    const other = exposed === null || exposed === tool ? '' : style.dim(` as ${printableLine(exposed)}`);
    const mark = hidden ? style.caution(' hidden') : '';
    const about = summary === '' ? '' : `\n      ${style.dim(plainLine(summary))}`;
    return `  ${style.good(printableLine(tool))} ${printableLine(input)}${other}${mark}${about}\n`;
  };
  const lines = (offered ?? []).map(line);
  if (behind !== undefined) lines.push(`  ${style.dim('Its model uses:')}\n`, ...behind.map(line));
  if ((behind ?? lines).length === 0) lines.push('  no tools\n');
  if (incomplete !== undefined) lines.push(`  ${style.caution('incomplete')}: ${plainLine(incomplete)}\n`);
  return `${head}\n${lines.join('')}`;
}
