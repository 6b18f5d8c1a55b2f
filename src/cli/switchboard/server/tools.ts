import { describeWarning } from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { plain, plainLine, printableLine } from '../../../shared/printable.ts';
import type { CliCommand } from '../command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { failureData, type FailureData } from '../../kit/output.ts';
import type { Style } from '../../kit/style.ts';
import { type ProbedTool, summarizeTool, type ToolSummary } from './probe-servers.ts';
import { selectServers, noServersText } from './select-servers.ts';
import {
  answerData,
  failedOutput,
  startServers,
  type Presentation,
  type StartedServer,
} from './inspect-servers.ts';
import { asLines } from '../../kit/text.ts';

interface ShownTool extends ToolSummary {
  /** The name that hosts use; null if they cannot call it. */
  readonly exposed: string | null;
  /** Whether the configuration hides it from hosts. */
  readonly hidden: boolean;
  readonly definition: unknown;
}

interface ServerTools extends Presentation, Partial<ReturnType<typeof answerData<ShownTool>>> {
  readonly name: string;
  readonly error?: FailureData;
}

export const toolsCommand: CliCommand = {
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
    const inspected = await startServers(app, selectServers(config, words), context);
    const shown = inspected.map((each) => ({ shownAs: each.shownAs, server: toolsOf(each) }));
    const servers = shown.map(({ server }) => server);
    const unmatched = servers.flatMap((server) => server.unmatched ?? []);
    return {
      exitCode: servers.some(({ error }) => error !== undefined) ? Exit.failed : Exit.ok,
      data: { servers },
      remark: failedOutput(inspected, context),
      complaint: asLines(
        unmatched.map((setting) => `${context.variant.program}: ${describeWarning(setting)}`),
      ),
      text: (style) =>
        servers.length === 0
          ? noServersText(context.variant, config)
          : shown.map(({ server, shownAs }) => serverText(server, shownAs, style)).join('\n'),
    };
  },
};

function toolsOf({ server, presentation, probe }: StartedServer): ServerTools {
  const head = { name: server.name, ...presentation };
  if (probe.kind === 'failed') return { ...head, error: failureData(probe.error) };
  return { ...head, ...answerData(probe, (tool) => shownTool(tool, server.suite.summaryMaxChars)) };
}

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
