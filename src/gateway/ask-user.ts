import { isObject } from '../shared/is-object.ts';
import { canElicit, Server, SERVER_SHAPE, type JsonObject } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';
import type { Call } from './call.ts';

export interface UserQuestion {
  readonly message: string;
  /** The form to fill in. Default: none; the user answers yes or no. */
  readonly requestedSchema?: JsonObject;
  /** How long the answer may take, in milliseconds. Default: until the call ends. */
  readonly timeoutMs?: number;
}

/** `unanswered`: the client could not ask, has left, or took too long. `cancelled`: the call has ended. */
export type UserAnswer =
  | { readonly kind: 'accepted'; readonly content: JsonObject }
  | { readonly kind: 'declined' | 'cancelled' }
  | { readonly kind: 'unanswered'; readonly why: string };

/** Whether the client of a call can ask its user a question. */
export function canAskUser({ session }: Call): boolean {
  return canElicit(session.client.capabilities, undefined);
}

/** Asks the user of a call's client. The first answer counts; a late one is ignored. */
export function askUser(
  { message, requestedSchema, timeoutMs }: UserQuestion,
  call: Call,
): Promise<UserAnswer> {
  const { session } = call;
  const { client } = session;
  return new Promise((resolve) => {
    let asked: number | undefined;
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const end = (answer: UserAnswer, withdrawBecause?: string): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (withdrawBecause !== undefined && asked !== undefined) client.withdraw(asked, withdrawBecause);
      if (answer.kind !== 'cancelled') call.runBy(undefined);
      resolve(answer);
    };
    // Cancelling the call cancels the question too.
    call.runBy({ cancelled: () => end({ kind: 'cancelled' }, 'The request was cancelled.') });
    const request = {
      jsonrpc: '2.0',
      id: 0,
      method: 'elicitation/create',
      params: { message, requestedSchema: requestedSchema ?? { type: 'object', properties: {} } },
    };
    // A client gets no requests before it has finished its handshake.
    session.whenReady(() => {
      if (isOver) return;
      if (timeoutMs !== undefined)
        timer = setTimeout(
          () => end({ kind: 'unanswered', why: 'nobody answered in time' }, 'The time is up.'),
          timeoutMs,
        ).unref();
      asked = client.ask(Message.from(request, SERVER_SHAPE), {
        answered: (answer) => end(readAnswer(answer)),
        unanswered: () =>
          end({ kind: 'unanswered', why: 'the client disconnected, or its answer was unusable' }),
      });
    });
  });
}

function readAnswer(answer: Message): UserAnswer {
  const result = answer.value(Server.result);
  if (!isObject(result)) return { kind: 'unanswered', why: 'the client could not ask' };
  if (result.action !== 'accept') return { kind: 'declined' };
  return { kind: 'accepted', content: isObject(result.content) ? result.content : {} };
}
