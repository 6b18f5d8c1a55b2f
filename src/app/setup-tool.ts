import { describeWarning, type LoadedConfig } from '../config/index.ts';
import type { OverallExposure } from '../gateway/index.ts';
import { printable, printableLine } from '../shared/printable.ts';

/**
 * Whether a client would never see a tool, however long it waits, or would see nothing that its configuration defines.
 */
export function hasNothingToShow({ files, servers, unusable, compounds, settings }: LoadedConfig): boolean {
  if (servers.length + compounds.length > 0) return false;
  if (files.length > 0 && files.every(({ leftOut }) => leftOut === true)) return true;
  if (settings.management.enabled) return false;
  return !unusable.some(({ exposure, offer }) => exposure === 'suite' && offer.includes('tools'));
}

/** The only tool of a gateway without servers: it says what to do. */
export function setupTool(
  program: string,
  { unusable, warnings }: LoadedConfig,
  looked: () => string[],
): OverallExposure {
  const add = `${program} add NAME -- COMMAND`;
  const next =
    program === 'switchboard'
      ? `In a terminal, \`switchboard init\` imports the servers of your hosts, and \`${add}\` adds one.`
      : `In a terminal, \`${add}\` adds one.`;
  const said = warnings.filter(({ level }) => level === 'warn').map(describeWarning);
  const problems = [
    ...said,
    ...unusable.map(({ name, reason, nextStep }) => `${name}: ${reason}. ${nextStep}`),
  ];
  const what =
    unusable.length > 0
      ? `No MCP server is available: ${unusable.map(({ name }) => name).join(', ')}.`
      : said.length > 0
        ? 'No MCP server is available: the configuration has an error.'
        : `No MCP server is configured. ${next}`;
  const description = printableLine(`${what} Call this tool for details.`);
  const presented = {
    names: ['switchboard_setup'],
    definition: (name: string) =>
      JSON.stringify({
        name,
        description,
        inputSchema: { type: 'object', properties: {} },
        annotations: { readOnlyHint: true, openWorldHint: false },
      }),
    run: (call: Parameters<ReturnType<OverallExposure['present']>[number]['run']>[0]) => {
      const lines = [what, ...problems, 'Searched for servers in:', ...looked()];
      const then = program === 'mcpmux' ? 'Then restart' : `Then reload: \`${program} reload\`, or restart`;
      const text = printable(`${lines.join('\n')}\n${then} the host.`);
      call.succeed({ content: [{ type: 'text', text }] });
    },
  };
  return { present: () => [presented] };
}
