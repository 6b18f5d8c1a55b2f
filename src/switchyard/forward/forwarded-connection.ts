import type { Socket } from 'node:net';
import { join } from '../sockets/join.ts';
import { trackActivity } from './connection-activity.ts';

/** A connection from a client to a service, through us. */
export interface ForwardedConnection {
  /** Whether we have ended it: nothing passes any more. */
  readonly ended: boolean;
  /**
   * Ends it: now, or after the answer that is outstanding, or when the time is up. A client that has neither sent nor
   * got anything is kept and handed to `onUnused`: for it nothing has happened yet.
   */
  retire(onUnused: () => void): void;
}

/** How long an answer may take after a switch, in milliseconds. */
export const RESPONSE_TIMEOUT_MS = 5000;
/** How often a protocol that we do not know is looked at, in milliseconds. */
const POLL_MS = 50;

export function openForwardedConnection(client: Socket, service: Socket): ForwardedConnection {
  const activity = trackActivity();
  let used = false;
  let retiring = false;
  let ended = false;

  const separate = join(client, service);
  // After the listeners of the relay, which have passed the bytes on by now.
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
    // What else it sends is read away: closing over unread bytes resets a connection, which may lose what we sent.
    service.resume();
    service.end();
  }

  function endIfDone(): void {
    const state = activity.state();
    // A client that is slow to read keeps us from seeing whether more is to come.
    const done = state === 'stream' || (state === 'idle' && !service.isPaused());
    if (ended || !done) return;
    end();
    client.on('error', () => client.destroy());
    client.resume();
    client.end();
  }

  function cut(): void {
    // Half an answer must not look like a whole one.
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
