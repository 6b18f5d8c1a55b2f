import { relative } from 'node:path';
import { printableLine } from '../../shared/printable.ts';
import type { Command } from '../command.ts';
import { commandText, shownCommand } from '../command-line.ts';
import { usage } from '../arguments.ts';
import { Exit } from '../failure.ts';
import { suiteOf } from '../survey.ts';
import { table } from '../table.ts';

export const list: Command = {
  name: 'list',
  summary: 'the configured servers; starts none',
  about: [
    'Shows each server with the tool a host sees for it, the command that starts it, and the file that defines it. ' +
      'Values of the environment are never shown: where one is part of a command line, its name stands there.',
  ],
  flags: [],
  examples: [
    ['switchboard list', 'in the project of this folder'],
    ['switchboard list --config ../app/switchboard.config.json', 'in another one'],
    ["switchboard list --json | jq -r '.servers[].name'", 'the names alone'],
  ],
  async run({ words }, context) {
    if (words.length > 0) throw usage('list takes no words.', 'switchboard tools SERVER shows one server.');
    const config = await context.loadConfig();
    const app = context.open(config);
    const servers = config.servers.map((server) => ({
      name: server.name,
      suite: suiteOf(app, server).suite.name,
      ...shownCommand(server),
      cwd: server.written.cwd,
      source: server.origin,
    }));
    const { disabled } = config;
    return {
      exitCode: Exit.ok,
      data: { config: config.file ?? null, servers, disabled },
      text: (style) => {
        if (servers.length + disabled.length === 0) {
          return 'No server is configured. `switchboard doctor` says where they are looked for.\n';
        }
        const rows = servers.map((server) => [
          printableLine(server.name),
          server.suite,
          commandText(server),
          place(server.source.file, context.cwd),
        ]);
        rows.push(...disabled.map((name) => [printableLine(name), '(off)']));
        return table(
          [{ title: 'SERVER' }, { title: 'TOOL' }, { title: 'COMMAND' }, { title: 'DEFINED IN' }],
          rows,
          style.bold,
        );
      },
    };
  },
};

/** Relative where that is shorter: most files are in the project. */
function place(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return printableLine(short.length < file.length ? short : file);
}
