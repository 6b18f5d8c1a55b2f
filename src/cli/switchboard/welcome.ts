import { messageOf } from '../../shared/errors.ts';
import { printable, printableLine } from '../../shared/printable.ts';
import type { CliCommand, Context } from './command.ts';
import { requiresConfigFlag } from './variants.ts';

/** What a person sees who starts the program in a terminal, where no host will ever speak to it. */
export const welcomeCommand: Pick<CliCommand, 'run'> = {
  async run(_given, context) {
    const { program, motto, launch, servers, listens } = context.variant;
    const title = program === 'switchboard' ? 'Switchboard' : program;
    const configured = !requiresConfigFlag(context.variant);
    const found = configured ? await foundText(context) : `${servers ?? ''}\n`;
    const commands: readonly (readonly [string, string])[] = [
      ...(program === 'switchboard'
        ? [[`${program} init`, 'move the servers of your hosts behind Switchboard (start here)'] as const]
        : []),
      [`${program} add NAME -- COMMAND`, 'add a server'],
      [`${program} add NAME --url URL`, 'add a remote server'],
      [`${program} doctor`, 'check the configuration'],
      [`${program} --dry-run`, 'show what a host would see, and the tokens saved'],
      [`${program} call SERVER TOOL key=value`, 'call a tool'],
    ];
    const next: readonly (readonly [string, string])[] = [
      ...(configured ? commands : []),
      program === 'switchboard'
        ? [`${program} install HOST`, 'add it to a host: Claude Code, Cursor, Codex …']
        : [`claude mcp add ${program} -- ${launch}`, 'add it to Claude Code'],
      ...(listens ? [[`${program} --http`, 'serve clients over HTTP'] as const] : []),
      [`${program} --help`, 'everything else'],
    ];
    const widest = Math.max(...next.map(([line]) => line.length));
    return {
      data: {},
      text: ({ bold }) =>
        `${bold(title)}: ${motto}.\n` +
        'An MCP host (Claude Code, Cursor, Codex …) starts this program and talks to it over stdin and stdout.\n' +
        'In a terminal it only shows this text; --stdio makes it serve anyway.\n\n' +
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
    const off = disabled.length === 0 ? '' : `, ${disabled.length} disabled`;
    const names = servers.slice(0, 8).map((server) => printableLine(server.name));
    if (servers.length > names.length) names.push('…');
    return (
      `Configuration: ${files.map(({ path }) => printableLine(path)).join('\n               ') || `none in ${printableLine(directory)}`}\n` +
      `Servers:       ${servers.length === 0 ? 'none' : `${servers.length} (${names.join(', ')})`}${off}\n`
    );
  } catch (error) {
    return `Configuration: invalid. ${printable(messageOf(error))}\n`;
  }
}
