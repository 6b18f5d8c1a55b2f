import { resolve } from 'node:path';
import { smokeTest } from '../../../switchyard/index.ts';
import { entriesOf, findHost } from '../../../hosts/index.ts';
import { usage } from '../../kit/arguments.ts';
import { withoutNpx } from '../../common/own-launch.ts';
import type { YardCommand } from '../invocation.ts';

export const yardMcpSmokeCommand: YardCommand = {
  about: [
    'Tests once, with the real program, everything an agent needs to use a project: registers it, installs it ' +
      'into a Codex file, starts that entry from another directory and reads the brief. It works in temporary ' +
      'directories and does not touch your files.',
  ],
  flags: [
    { name: 'nested', value: 'DIR', summary: 'start from this directory of the project' },
    {
      name: 'name',
      value: 'NAME',
      summary: 'name of the temporary server (default switchyard-smoke)',
    },
    { name: 'project', value: 'NAME', hidden: true, summary: 'refused: name the directory instead' },
  ],
  examples: [
    ['$0 mcp smoke', 'the current project'],
    ['$0 mcp smoke ~/shop --nested packages/api', 'another one, from a directory below it'],
  ],
  async run({ words, flags }, { cwd, env }) {
    if (flags.has('project'))
      throw usage('smoke takes a directory, not --project.', 'Write switchyard mcp smoke DIR.');
    const codex = findHost('codex');
    const result = await smokeTest({
      project: words[0] ?? '.',
      nested: flags.get('nested'),
      name: flags.get('name') ?? 'switchyard-smoke',
      cwd,
      env: withoutNpx(env),
      program: [process.execPath, resolve(process.argv[1] ?? '')],
      entryIn: (text, name) => entriesOf(text, codex).get(name),
    });
    return {
      data: { ok: true, ...result },
      text: () =>
        [
          'OK   MCP project smoke',
          `project: ${result.project}`,
          `cwd: ${result.cwd}`,
          `alias: ${result.alias}`,
          `home: ${result.home}`,
          '',
        ].join('\n'),
    };
  },
};
