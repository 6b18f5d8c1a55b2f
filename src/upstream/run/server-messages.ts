import type { Call } from '../../gateway/index.ts';
import { Client, kindsChangedBy, Server } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import { withoutSubscriptionId } from '../modern/change-stream.ts';
import { isModern } from '../modern/modern.ts';
import { PendingCall } from './pending-call.ts';
import type { ServerRun } from './server-run.ts';

/** Handles a request from a server; most are for a client. */
export function routeRequest(run: ServerRun, message: Message): void {
  const { peer, serverRequests, modern } = run;
  if (run.readsNothing) {
    const { server, context } = run.setup;
    if (!run.unreadLogged)
      context.log.warn('sends requests without reading the responses', { server: server.name });
    run.unreadLogged = true;
  } else if (modern) modern.asked(message);
  else if (message.string(Server.method) === 'ping') peer.answer(message.requiredText(Server.id), {});
  else serverRequests.ask(message);
}

/**
 * Handles a notification from a server. `requestId` identifies our request on whose response stream it arrived, if
 * known.
 */
export function routeNotification(run: ServerRun, message: Message, requestId: number | undefined): void {
  const { modern } = run;
  if (modern && message.string(Server.method) === 'notifications/message') {
    routeLog(run, message, requestId);
    return;
  }
  const heard = modern ? modern.listening.heard(message) : message;
  if (heard !== undefined) routeHeard(run, heard);
}

function routeHeard(run: ServerRun, notification: Message): void {
  const { peer, serverRequests, modern, background } = run;
  const method = notification.requiredString(Server.method);
  if (method === 'notifications/progress') {
    const token = notification.integer(Server.progressToken);
    const listener = peer.pendingFor(token);
    const task = listener === undefined ? background.task(token) : undefined;
    if (listener instanceof PendingCall) listener.progress(notification);
    else if (task !== undefined) task.progress(notification);
    else if (listener === undefined) run.missed(token);
  } else if (method === 'notifications/cancelled') {
    const id = notification.text(Server.requestId);
    if (modern) modern.listening.cancelled(notification.integer(Server.requestId));
    else if (id !== undefined) serverRequests.withdraw(id, 'The server withdrew its request.');
  } else {
    const kinds = kindsChangedBy(method);
    for (const list of kinds) run.tell({ kind: 'changed', list });
    if (kinds.length === 0)
      run.yieldTo(run.tell({ kind: 'notified', notification, callers: () => run.callers() }));
  }
}

/**
 * A log message from a modern server goes to the call on whose response stream it arrived, or to the only call that
 * wants log messages. Otherwise it is dropped.
 */
function routeLog(run: ServerRun, message: Message, requestId: number | undefined): void {
  const id = requestId ?? message.integer(Server.subscriptionId);
  const listener = run.peer.pendingFor(id);
  if (listener === undefined) run.missed(id);
  const wanting = run
    .pendingCalls()
    .map((pending) => pending.call)
    .filter(wantsLogs);
  const call =
    listener instanceof PendingCall ? listener.call : wanting.length === 1 ? wanting[0] : undefined;
  const notification = withoutSubscriptionId(message);
  if (call !== undefined) {
    call.notify(notification, []);
    run.yieldTo(call.session.client);
  } else if (wanting.length > 0) {
    const sessions = new Set(wanting.map(({ session }) => session));
    run.yieldTo(run.tell({ kind: 'notified', notification, callers: () => sessions }));
  }
}

function wantsLogs(call: Call): boolean {
  return isModern(call) ? call.request.has(Client.logLevel) : call.session.logLevel !== undefined;
}
