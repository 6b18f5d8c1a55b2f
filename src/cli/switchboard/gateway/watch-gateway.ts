import { connect } from 'node:net';
import type { ConsoleEvent, FeedMessage, FeedMethods, Problem } from '../../../console/index.ts';
import type { ErrorCode } from '../../../shared/error-codes.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import { readJsonLines, type ControlAddress } from './control-channel.ts';

/** The longest line, in UTF-16 code units: the lists of hundreds of servers are long. */
const MAX_LINE = 64 * 1024 * 1024;
/** How long a gateway may take to send its first line, in milliseconds. */
const BEGIN_MS = 5000;

export interface GatewayFeed {
  /** The id that the gateway has given itself. */
  readonly id: string;
  /** Sends a request to the gateway. Rejects with its error, or if the gateway ends. */
  request<M extends keyof FeedMethods>(method: M, params: FeedMethods[M]): Promise<unknown>;
  close(): void;
}

export interface FeedListener {
  readonly events: (events: readonly ConsoleEvent[]) => void;
  /** Called when the gateway has ended or closed the connection. */
  readonly ended: () => void;
}

/** Watches a running gateway. Rejects if that is not possible, for example with one of an older version. */
export function watchGateway(
  { path, token }: ControlAddress,
  { events: take, ended }: FeedListener,
): Promise<GatewayFeed> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
    let lastId = 0;
    let feed: GatewayFeed | undefined;
    const tooLate = setTimeout(() => socket.destroy(), BEGIN_MS);
    const receive = (events: readonly ConsoleEvent[]): void => {
      if (feed === undefined) {
        const [first] = events;
        if (first?.type !== 'gateway' || typeof first.gateway.id !== 'string')
          throw new Error('not a gateway');
        clearTimeout(tooLate);
        feed = { id: first.gateway.id, request, close: () => socket.destroy() };
        resolve(feed);
      }
      // Events about another gateway are ignored.
      const { id } = feed;
      if (events.some((event) => gatewayOf(event, id) !== id)) throw new Error('of another gateway');
      take(events);
    };
    const request: GatewayFeed['request'] = (method, params) =>
      new Promise((settle, fail) => {
        if (socket.destroyed) {
          fail(gone());
          return;
        }
        const id = ++lastId;
        waiting.set(id, { resolve: settle, reject: fail });
        socket.write(`${JSON.stringify({ id, method, params })}\n`);
      });
    readJsonLines(
      socket,
      (message) => {
        if (!isObject(message)) throw new Error('not a message');
        const said = message as unknown as FeedMessage;
        if ('events' in said) receive(said.events);
        else if ('id' in said) {
          const asked = waiting.get(said.id);
          waiting.delete(said.id);
          if ('error' in said) asked?.reject(asError(said.error));
          else asked?.resolve(said.result);
        } else if ('error' in message) {
          reject(new Error(String(message.error)));
          socket.destroy();
        }
      },
      MAX_LINE,
    );
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(tooLate);
      reject(new Error('it closed the connection'));
      for (const { reject: fail } of waiting.values()) fail(gone());
      if (feed !== undefined) ended();
    });
    socket.write(`${JSON.stringify({ token, method: 'watch' })}\n`);
  });
}

function gatewayOf(event: ConsoleEvent, own: string): string | undefined {
  switch (event.type) {
    case 'gateway':
      return event.gateway.id;
    case 'server':
      return event.server.gateway;
    case 'client':
      return event.client.gateway;
    case 'call':
      return event.call.gateway;
    case 'server-removed':
    case 'client-left':
      return event.gateway;
    case 'log':
      return event.lines.every(({ gateway }) => gateway === own) ? own : undefined;
    case 'trial':
    case 'left-out':
      return own;
    default:
      return undefined;
  }
}

function gone(): SwitchboardError {
  return new SwitchboardError('GATEWAY_UNKNOWN', 'The gateway has ended.', {
    hint: '`switchboard status` shows the gateways that run.',
  });
}

/** Turns a problem that a gateway reports into an error. */
function asError({ code, message, nextStep }: Problem): SwitchboardError {
  return new SwitchboardError(code as ErrorCode, message, { hint: nextStep ?? undefined });
}
