import { resolve } from 'node:path';
import { bindProject } from '../../../switchyard/index.ts';
import { createLogger } from '../../../shared/log.ts';
import { openYardServer, type YardServerOptions } from '../../../yard.ts';
import { usage } from '../../kit/arguments.ts';
import { writeLogLine, writeStderr } from '../../kit/stderr.ts';
import { isStopSignal, onStop } from '../../kit/signals.ts';
import type { YardCommand } from '../invocation.ts';

export const yardMcpCommand: YardCommand = {
  about: [
    'Serves Switchyard to agents as MCP tools, resources and prompts over stdin and stdout. It opens no port.',
    'When run inside a project, it serves that project only. In a worktree it defaults to the branch of that worktree. ' +
      'Read-only tools never write anything.',
    '`switchyard mcp install` adds it to a host and registers the project. Services are started only for ' +
      'registered projects, because a host may have started this server in a repository that was just cloned.',
  ],
  flags: [
    {
      name: 'project',
      value: 'NAME',
      summary: 'a registered project, by name, from any directory',
    },
    { name: 'cwd', value: 'DIR', hidden: true, summary: 'the directory to start in' },
  ],
  examples: [
    ['$0 mcp', 'for the current project'],
    ['$0 mcp --project shop', 'for a registered project'],
  ],
  async run({ flags }, { cwd, env, json }) {
    const alias = flags.get('project');
    const start = flags.get('cwd');
    if (alias !== undefined && start !== undefined) throw usage('Use either --cwd or --project, not both.');
    if (json) throw usage('mcp speaks JSON-RPC, so --json has no meaning.', 'Leave out --json.');
    const project = {
      directory: start === undefined ? cwd : resolve(cwd, start),
      alias,
      onlyRegistered: alias === undefined && env.SWITCHBOARD_ALLOW_PROJECT !== '1',
    };
    // Reports problems with the project now, not with the first call.
    const bound = bindProject(project, env);
    process.chdir(bound.cwd);
    const exitCode = await serve({ project, env });
    return { exitCode, data: undefined, text: () => '' };
  },
};

/** Requests received before the end of the input still get a response; services may take a while to become ready. */
const DRAIN_MS = 10 * 60_000;
/** After a signal they get less time: who sent it waits. */
const SIGNAL_DRAIN_MS = 3000;

async function serve({ project, env }: Pick<YardServerOptions, 'project' | 'env'>): Promise<number> {
  const { stdin, stdout } = process;
  if (stdin.isTTY)
    writeStderr('switchyard: waiting for MCP requests on stdin; Ctrl-D quits. See: switchyard mcp --help\n');
  const log = createLogger({
    level: 'warn',
    program: 'switchyard',
    write: (line) => writeLogLine(line, false),
  });
  const { door, close } = openYardServer({ project, env, input: stdin, output: stdout, log });
  const stopped = onStop(() => undefined, log);
  const why = await Promise.race([door.ended, stopped]);
  if (why === 'end') await Promise.race([door.drain(DRAIN_MS), stopped]);
  else if (isStopSignal(why)) await door.drain(SIGNAL_DRAIN_MS);
  await door.drain(0);
  await Promise.all([door.flushed(), close()]);
  return why === 'overrun' ? 1 : 0;
}
