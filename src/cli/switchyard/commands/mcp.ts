import { resolve } from 'node:path';
import { bindProject } from '../../../switchyard/index.ts';
import { createLogger } from '../../../shared/log.ts';
import { openYardServer, type YardServerOptions } from '../../../yard.ts';
import { usage } from '../../arguments.ts';
import { writeLogLine, writeStderr } from '../../stderr.ts';
import { onStop } from '../../stop.ts';
import type { YardCommand } from '../command.ts';

export const yardMcpCommand: YardCommand = {
  about: [
    'Gives agents what this program knows and can do, as MCP tools, resources and prompts. It speaks on stdin and ' +
      'stdout, for the agent that started it, and opens no port.',
    'It can be run inside a project: it serves that one and no other, and in a worktree of the project it means its branch. ' +
      'Looking never writes anything.',
    '`switchyard mcp install` tells an agent about it, and registers the project. Services are started only for a ' +
      'project that is registered: a host may have started this in a repository that was only just cloned.',
  ],
  flags: [
    {
      name: 'project',
      value: 'NAME',
      summary: 'the project that was registered under this name, wherever the agent starts it',
    },
    { name: 'cwd', value: 'DIR', hidden: true, summary: 'the directory to start in' },
  ],
  examples: [
    ['$0 mcp', 'for the project you stand in'],
    ['$0 mcp --project shop', 'for one that was registered'],
  ],
  async run({ flags }, { cwd, env, json }) {
    const alias = flags.get('project');
    const start = flags.get('cwd');
    if (alias !== undefined && start !== undefined) throw usage('use either --cwd or --project, not both');
    if (json) throw usage('mcp answers in JSON to requests only.', 'Leave out --json.');
    const project = {
      directory: start === undefined ? cwd : resolve(cwd, start),
      alias,
      onlyRegistered: alias === undefined && env.SWITCHBOARD_ALLOW_PROJECT !== '1',
    };
    // What is wrong with it is known now, and not with the first call.
    const bound = bindProject(project, env);
    process.chdir(bound.cwd);
    const exitCode = await serve({ project, env });
    return { exitCode, data: undefined, text: () => '' };
  },
};

/** What was received before the end of the input is answered; services may take their time to become ready. */
const DRAIN_MS = 10 * 60_000;

async function serve({ project, env }: Pick<YardServerOptions, 'project' | 'env'>): Promise<number> {
  const { stdin, stdout } = process;
  if (stdin.isTTY)
    writeStderr('switchyard: an agent speaks MCP here; Ctrl-D ends it. See: switchyard mcp --help\n');
  const log = createLogger({
    level: 'warn',
    program: 'switchyard',
    write: (line) => writeLogLine(line, false),
  });
  const { door, close } = openYardServer({ project, env, input: stdin, output: stdout, log });
  const stopped = onStop(() => undefined, log);
  const why = await Promise.race([door.ended, stopped]);
  if (why === 'end') await Promise.race([door.drain(DRAIN_MS), stopped]);
  await door.drain(0);
  await Promise.all([door.flushed(), close()]);
  return why === 'overrun' ? 1 : 0;
}
