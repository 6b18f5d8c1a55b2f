import { canElicit, requiredCapability, Server, severity } from '../protocol/index.ts';
import { RpcCode, type Edit, type Message } from '../wire/index.ts';
import type { ClientLink, Session } from './session.ts';
import type { ServerRequest } from './source.ts';
import type { Subscriptions } from './subscriptions.ts';

/**
 * The client for a source's message that names no call: the one whose call the source is running, or the only one. With
 * several candidates the client cannot be known, and is never guessed.
 */
export function targetSession(
  callers: ReadonlySet<Session>,
  sessions: ReadonlySet<Session>,
): Session | undefined {
  const candidates = [...(callers.size > 0 ? callers : sessions)];
  const last = candidates.at(-1);
  // Several requests of one principal count as one client: the newest is used.
  return candidates.every((each) => each.principal === last?.principal) ? last : undefined;
}

/** Relays a source's request to the client it belongs to, if that client can answer it. */
export function relayServerRequest(serverRequest: ServerRequest, sessions: ReadonlySet<Session>): void {
  const session = targetSession(serverRequest.callers(), sessions);
  if (session === undefined) {
    const why =
      sessions.size === 0 ? 'no client is connected' : 'it does not say which of several clients it is for';
    serverRequest.refuse(RpcCode.serverError, `${serverRequest.method} was not forwarded: ${why}.`);
    return;
  }
  const refusal = refusalFor(serverRequest, session);
  if (refusal) serverRequest.refuse(refusal.code, refusal.message);
  // A client gets no requests before it has finished its handshake.
  else session.whenReady(() => serverRequest.relayTo(session.client));
}

/** The refusal of a request that needs a capability the client has not declared. */
function refusalFor(
  { method, request }: ServerRequest,
  { client }: Session,
): { code: number; message: string } | undefined {
  const needed = requiredCapability(method);
  if (needed === undefined) return undefined;
  const declared = client.capabilities[needed];
  if (declared === undefined || declared === null || declared === false) {
    const message = `Method not found: ${method} (the client has not declared the capability "${needed}").`;
    return { code: RpcCode.methodNotFound, message };
  }
  const mode = method === 'elicitation/create' ? request.string(Server.mode) : undefined;
  if (method === 'elicitation/create' && !canElicit(client.capabilities, mode)) {
    const message = `Invalid params: the client has not declared elicitation in mode "${mode === 'url' ? 'url' : 'form'}".`;
    return { code: RpcCode.invalidParams, message };
  }
  return undefined;
}

/** Passes on a notification that belongs to no call. Returns the client if it takes messages too slowly. */
export function forwardNotification(
  notification: Message,
  session: Session | undefined,
): ClientLink | undefined {
  if (session === undefined) return undefined;
  const { client, logLevel } = session;
  // Some servers ignore logging/setLevel.
  const tooQuiet =
    logLevel !== undefined &&
    notification.string(Server.method) === 'notifications/message' &&
    severity(notification.string(Server.level)) < severity(logLevel);
  if (!tooQuiet) client.forwardNotification(notification, []);
  return client.congested ? client : undefined;
}

/**
 * Notifies only the clients that subscribed to a resource of its change. The changed URI may also be below the one they
 * subscribed to. Returns a client that takes messages too slowly.
 */
export function forwardResourceUpdate(
  notification: Message,
  subscriptions: Subscriptions,
): ClientLink | undefined {
  const uri = notification.string(Server.uri);
  let slow: ClientLink | undefined;
  if (uri === undefined) return undefined;
  for (const [session, knownAs] of subscriptions.subscribersOf(uri)) {
    const edits: Edit[] = [];
    if (knownAs !== uri) {
      const start = notification.start(Server.uri);
      edits.push({ start, end: notification.end(Server.uri), with: JSON.stringify(knownAs) });
    }
    session.client.forwardNotification(notification, edits);
    if (session.client.congested) slow = session.client;
  }
  return slow;
}
