import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadedConfig, ServerDefinition } from '../../../config/index.ts';
import { instructionsFor, knownAs } from '../../../language/wrap/index.ts';
import { type SwitchboardError, messageOf } from '../../../shared/errors.ts';
import { usage } from '../../kit/arguments.ts';
import type { Context } from '../command.ts';
import { probeServers, type ProbedServer } from '../server/probe-servers.ts';

/** What the model of a server is to be told, and where that comes from. */
export interface FoundInstructions {
  readonly text: string;
  readonly from: 'file' | 'descriptions' | 'library' | 'draft';
  /** What the server said of itself, where it was started for that. */
  readonly about?: Answered['about'];
  /** Why the draft knows nothing of the server's tools. */
  readonly problem?: SwitchboardError | undefined;
}

type Answered = Extract<ProbedServer, { kind: 'answered' }>;

/** What no instructions have a reason to be longer than, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** What a file says. */
export function instructionsIn(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    if (bytes.toString('utf8').trim() === '') throw new Error('it is empty');
    return bytes.toString('utf8');
  } catch (cause) {
    throw usage(`Cannot use the instructions in ${path}: ${messageOf(cause)}`, 'Name another file.');
  }
}

/** What is known of a server, or else what it says of itself: for that it is started once. */
export async function findInstructions(
  server: ServerDefinition,
  config: LoadedConfig,
  context: Context,
): Promise<FoundInstructions> {
  const known = { server: server.name, program: server, claude: server.claude };
  const from = whereFrom(server);
  if (from !== 'draft') {
    return { from, text: await instructionsFor({ ...known, about: undefined, tools: [] }) };
  }
  const app = context.open({ ...config, servers: [server], compounds: [] });
  const [probed] = await probeServers(app, [server], context);
  const tools = probed?.kind === 'answered' ? probed.tools.flatMap(({ offered }) => offered ?? []) : [];
  const about = probed?.kind === 'answered' ? probed.about : undefined;
  const text = await instructionsFor({ ...known, about, tools });
  return { from, text, about, problem: probed?.kind === 'failed' ? probed.error : undefined };
}

/** Whether it has to be started to be described. */
export function whereFrom(server: ServerDefinition): Exclude<FoundInstructions['from'], 'file'> {
  if (server.claude !== undefined) return 'descriptions';
  return knownAs(server) === undefined ? 'draft' : 'library';
}
