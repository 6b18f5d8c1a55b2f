import type { Socket } from 'node:net';
import { join } from '../../runtime/sockets/join.ts';
import { trackActivity } from './connection-activity.ts';

/** A connection from a client to a service, through us. */
export interface ForwardedConnection {
  /** Whether we have ended it, so that nothing is forwarded any more. */
  readonly ended: boolean;
  /**
   * Ends it: now, after the pending response, or at the timeout. A client that has neither sent nor received anything
   * is kept and passed to `onUnused`: nothing has happened for it yet.
   */
  retire(onUnused: () => void): void;
}

/** How long a pending response may take after a switch, in milliseconds. */
export const RESPONSE_TIMEOUT_MS = 5000;
/** How often to check connections with an unknown protocol, in milliseconds. */
const POLL_MS = 50;

export function openForwardedConnection(client: Socket, service: Socket): ForwardedConnection {
  const activity = trackActivity();
  let used = false;
  let retiring = false;
  let ended = false;

  const separate = join(client, service);
  // Runs after the listeners of the relay, which have forwarded the bytes by now.
  const onAsked = (chunk: Buffer): void => {
    used = true;
    activity.onRequestData(chunk);
  };
  const onAnswered = (chunk: Buffer): void => {
    used = true;
    activity.onResponseData(chunk);
    if (retiring) endIfDone();
  };
  client.on('data', onAsked);
  service.on('data', onAnswered);

  function end(): void {
    ended = true;
    separate();
    client.off('data', onAsked);
    service.off('data', onAnswered);
    service.on('error', () => service.destroy());
    // Discards further input: closing with unread bytes resets a connection, which may lose what we sent.
    service.resume();
    service.end();
  }

  function endIfDone(): void {
    const state = activity.state();
    // While a slow client blocks reading, we cannot tell whether more is coming.
    const done = state === 'stream' || (state === 'idle' && !service.isPaused());
    if (ended || !done) return;
    end();
    client.on('error', () => client.destroy());
    client.resume();
    client.end();
  }

  function cut(): void {
    // A partial response must not look complete.
    if (client.writableFinished) client.destroy();
    else client.resetAndDestroy();
    service.destroy();
  }

  return {
    get ended() {
      return ended || client.destroyed;
    },
    retire(onUnused) {
      if (retiring) return;
      retiring = true;
      if (!used && !client.destroyed && !service.readableEnded) {
        end();
        setTimeout(() => service.destroy(), RESPONSE_TIMEOUT_MS).unref();
        onUnused();
        return;
      }
      const timers = [setInterval(endIfDone, POLL_MS), setTimeout(cut, RESPONSE_TIMEOUT_MS)];
      let open = 2;
      for (const socket of [client, service]) {
        socket.on('close', () => {
          if (--open === 0) timers.forEach((timer) => clearTimeout(timer));
        });
      }
      endIfDone();
    },
  };
}
