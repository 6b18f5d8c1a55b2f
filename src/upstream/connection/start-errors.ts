import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type { UpstreamServer } from '../server.ts';

/** The server is alive but has not answered `initialize` in time. */
export class StartTimeout extends SwitchboardError {
  constructor({ name, target }: UpstreamServer, elapsed: number, words: string) {
    super(
      'START_TIMEOUT',
      `Server '${name}' did not respond to initialize within ${inSeconds(elapsed)}.${words && ` ${words}`}`,
      {
        hint:
          target.kind === 'remote'
            ? 'If it just needs more time, raise timeouts.childSpawnMs; otherwise check that its url is that of an MCP server.'
            : 'If it just needs more time, raise timeouts.childSpawnMs; if it prints nothing, check that its command starts an MCP server.',
      },
    );
  }
}

/** The server is not started now, although nothing is wrong with it. */
export class StartPostponed extends Error {
  readonly reason: SwitchboardError;

  constructor(reason: SwitchboardError) {
    super(reason.message);
    this.reason = reason;
  }
}

/** The reason why a server did not start, as the error for the waiting calls. */
export function asStartError(error: unknown, server: string): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError(
    'START_FAILED',
    `Server '${server}' could not be started: ${messageOf(error)}`,
    { cause: error },
  );
}

/** `0.3 s`, `12 s`. */
export function inSeconds(ms: number): string {
  return `${ms < 9950 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`;
}
