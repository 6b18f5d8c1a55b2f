import type { Deadline, Deadlines } from '../../shared/deadline.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { JsonObject } from '../../protocol/index.ts';
import type { Message, Peer } from '../../wire/index.ts';

export interface OwnRequest {
  /** The server's name. */
  readonly server: string;
  readonly peer: Peer;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly deadlines: Deadlines;
  /** How long the server may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Why the connection was lost, where it was. */
  readonly lossReason: () => string;
}

/** Asks a server something of our own. Resolves with the answer, whatever it says, or with that it was not looked at. */
export function askOwn(request: OwnRequest): Promise<Message | 'not-taken'> {
  const { server, peer, method, params, deadlines, timeoutMs } = request;
  return new Promise((resolve, reject) => {
    const deadline: Deadline = {
      at: performance.now() + timeoutMs,
      place: -1,
      expired: () => {
        if (peer.forget(id)) peer.cancel(id);
        reject(
          new SwitchboardError(
            'CALL_TIMEOUT',
            `Server '${server}' did not respond to ${method} within ${timeoutMs} ms.`,
            { hint: 'If it needs more time, raise timeouts.rpcMs in the configuration.' },
          ),
        );
      },
    };
    const id = peer.request(method, params, {
      answered: (answer) => {
        deadlines.remove(deadline);
        resolve(answer);
      },
      unanswered: (reason, error) => {
        deadlines.remove(deadline);
        const why =
          reason === 'closed' ? request.lossReason() : `Its answer was ${reason.replace('-', ' ')}.`;
        if (reason === 'not-taken') resolve(reason);
        else
          reject(
            error ??
              new SwitchboardError('SERVER_LOST', `Server '${server}' did not respond to ${method}. ${why}`),
          );
      },
    });
    deadlines.add(deadline);
  });
}
