import { SwitchboardError } from '../../shared/errors.ts';
import { printable, printableLine } from '../../shared/printable.ts';
import type { Command } from '../command.ts';
import { Exit, failureData } from '../failure.ts';
import type { Style } from '../style.ts';
import { described, selected, survey, type Described } from '../survey.ts';
import { lastWords } from '../last-words.ts';

interface ShownTool extends Described {
  readonly hidden: boolean;
}

interface ServerTools {
  readonly name: string;
  readonly suite: string;
  readonly tools?: readonly ShownTool[];
  /** Why the list is not everything. */
  readonly incomplete?: string;
  readonly error?: ReturnType<typeof failureData>;
}

export const tools: Command = {
  name: 'tools',
  words: '[server…]',
  summary: 'what the servers offer',
  about: [
    'Starts the servers (all, or those named), and lists the tools of each with their input in one line, as a model ' +
      'reads it: `{path:string, limit?:integer=10}` has one argument that must be given and one that may be.',
    'A tool that expose.allow or expose.deny keeps from hosts is marked "hidden". With --json each tool also has its ' +
      'whole definition.',
  ],
  flags: [],
  examples: [
    ['switchboard tools', 'of all servers'],
    ['switchboard tools github', 'of one'],
    [
      "switchboard tools github --json | jq '.servers[0].tools[] | .definition.inputSchema'",
      'the schemas in full',
    ],
  ],
  async run({ words }, context) {
    const config = await context.loadConfig();
    const surveyed = await survey(config, selected(config, words), context);
    const servers = surveyed.map((each) => {
      const { server, suite, admits } = each;
      const head = { name: server.name, suite: suite.name };
      if (each.kind === 'failed') return { ...head, error: failureData(each.error) };
      const shownTools = described(each.tools, server.suite.summaryMaxChars).map((tool, at) => ({
        ...tool,
        hidden: !admits(tool.name),
        definition: each.tools[at],
      }));
      return {
        ...head,
        tools: shownTools,
        ...(each.incomplete === undefined ? {} : { incomplete: each.incomplete }),
      };
    });
    const remarks = surveyed.map((each) =>
      each.kind === 'failed' ? lastWords(context.unseenOutput(each.server.name), each.error) : undefined,
    );
    return {
      exitCode: surveyed.some((each) => each.kind === 'failed') ? Exit.failed : Exit.ok,
      data: { servers },
      remark: remarks.join('') || undefined,
      text: (style) =>
        servers.length === 0
          ? 'No server is configured. `switchboard doctor` says where they are looked for.\n'
          : servers.map((server) => serverText(server, style)).join('\n'),
    };
  },
};

function serverText({ name, suite, tools: offered, incomplete, error }: ServerTools, style: Style): string {
  const head = style.bold(printableLine(name)) + style.dim(` (${suite})`);
  if (error !== undefined) {
    const reason = new SwitchboardError(error.code, error.message, { hint: error.hint });
    return `${head}\n  ${style.bad('failed')}: ${printable(reason.explained)}\n`;
  }
  const lines = (offered ?? []).map(({ name: tool, input, summary, hidden }) => {
    const mark = hidden ? style.caution(' hidden') : '';
    const about = summary === '' ? '' : `\n      ${style.dim(printableLine(summary))}`;
    return `  ${style.good(printableLine(tool))} ${printableLine(input)}${mark}${about}\n`;
  });
  if (lines.length === 0) lines.push('  no tools\n');
  if (incomplete !== undefined)
    lines.push(`  ${style.caution('incomplete')}: ${printableLine(incomplete)}\n`);
  return `${head}\n${lines.join('')}`;
}
