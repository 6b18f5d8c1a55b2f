import { isObject } from '../shared/is-object.ts';
import { Server } from '../protocol/index.ts';
import type { Message } from '../wire/index.ts';

/** The text of a server's error response: its message, or otherwise the error as JSON. */
export function errorText(answer: Message): string {
  const error = answer.value(Server.error);
  if (error === undefined) return 'an error that is too long to be shown';
  return isObject(error) && typeof error.message === 'string' ? error.message : JSON.stringify(error);
}

export function errorCode(answer: Message): unknown {
  const error = answer.value(Server.error);
  return isObject(error) ? error.code : undefined;
}

/** The versions that an error lists as supported by the server; undefined if it lists none. */
export function versionsSupported(answer: Message): readonly unknown[] | undefined {
  const error = answer.value(Server.error);
  const data = isObject(error) ? error.data : undefined;
  return isObject(data) && Array.isArray(data.supported) ? (data.supported as unknown[]) : undefined;
}
