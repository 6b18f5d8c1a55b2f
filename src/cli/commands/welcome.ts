import { messageOf } from '../../shared/errors.ts';
import { printable, printableLine } from '../../shared/printable.ts';
import type { CliCommand, Context } from '../command.ts';
import { requiresConfigFlag } from '../program-variant.ts';
import { Exit } from '../failure.ts';

/** What a person sees who starts the program in a terminal, where no host will ever speak to it. */
export const welcomeCommand: Pick<CliCommand, 'run'> = {
  async run(_given, context) {
    const { program, motto, launch, servers, listens } = context.variant;
    const title = program === 'switchboard' ? 'Switchboard' : program;
    const configured = !requiresConfigFlag(context.variant);
    const found = configured ? await foundText(context) : `${servers ?? ''}\n`;
    const commands: readonly (readonly [string, string])[] = [
      ...(program === 'switchboard'
        ? [[`${program} init`, 'begin: find the servers your hosts have, and tell the hosts'] as const]
        : []),
      [`${program} add NAME -- COMMAND`, 'add a server'],
      [`${program} add NAME --url URL`, 'add a remote server'],
      [`${program} doctor`, 'is everything in order?'],
      [`${program} --dry-run`, 'what a host would see, and the tokens that saves'],
      [`${program} call SERVER TOOL key=value`, 'use a tool right here'],
    ];
    const next: readonly (readonly [string, string])[] = [
      ...(configured ? commands : []),
      program === 'switchboard'
        ? [`${program} install HOST`, 'let a host use it: Claude Code, Cursor, Codex …']
        : [`claude mcp add ${program} -- ${launch}`, 'let Claude Code use it'],
      ...(listens ? [[`${program} --http`, 'serve clients that connect, over HTTP'] as const] : []),
      [`${program} --help`, 'everything else'],
    ];
    const widest = Math.max(...next.map(([line]) => line.length));
    return {
      exitCode: Exit.ok,
      data: {},
      text: ({ bold }) =>
        `${bold(title)}: ${motto}.\n` +
        'An MCP host (Claude Code, Cursor, Codex …) starts it and speaks to it over stdin and stdout;\n' +
        'in a terminal there is no host, so it does not wait for one. (--stdio makes it serve all the same.)\n\n' +
        `${found}\n` +
        `${bold('Next:')}\n` +
        next.map(([line, meaning]) => `  ${line.padEnd(widest)}   ${meaning}\n`).join(''),
    };
  },
};

/** Which configuration there is, and its servers. */
async function foundText(context: Context): Promise<string> {
  try {
    const { files, directory, servers, disabled } = await context.loadConfig('quietly');
    const off = disabled.length === 0 ? '' : `, ${disabled.length} turned off`;
    const names = servers.slice(0, 8).map((server) => printableLine(server.name));
    if (servers.length > names.length) names.push('…');
    return (
      `Configuration: ${files.map(({ path }) => printableLine(path)).join('\n               ') || `none in ${printableLine(directory)}`}\n` +
      `Servers:       ${servers.length === 0 ? 'none' : `${servers.length} (${names.join(', ')})`}${off}\n`
    );
  } catch (error) {
    return `Configuration: cannot be used. ${printable(messageOf(error))}\n`;
  }
}
