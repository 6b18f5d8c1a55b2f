import { Meta, Server, SERVER_SHAPE } from '../protocol/index.ts';
import { memberText, Message, withMembers } from '../wire/index.ts';

/**
 * A notification marked with the request on whose stream it came. Over HTTP the stream says to which call a log message
 * belongs, and behind the link there are no streams any more; so it gets the mark that a modern server itself puts on
 * what it tells a listener.
 */
export function tagged(notification: Message, id: number): Message {
  const text = notification.toString();
  const params = memberText(text, 'params');
  if (params?.startsWith('{') !== true) return notification;
  const given = memberText(params, '_meta');
  const meta = given?.startsWith('{') === true ? given : '{}';
  const marked = withMembers(meta, { [Meta.subscriptionId]: String(id) });
  return Message.fromText(
    withMembers(text, { params: withMembers(params, { _meta: marked }) }),
    SERVER_SHAPE,
  );
}

/** The same without a mark: our own numbers are nobody else's business. */
export function untagged(notification: Message): Message {
  if (!notification.has(Server.subscriptionId)) return notification;
  const text = notification.toString();
  const params = memberText(text, 'params')!;
  const meta = withMembers(memberText(params, '_meta')!, { [Meta.subscriptionId]: undefined });
  const rest = withMembers(params, { _meta: /^\{\s*\}$/.test(meta) ? undefined : meta });
  return Message.fromText(withMembers(text, { params: rest }), SERVER_SHAPE);
}
