import { isObject } from '../shared/is-object.ts';
import type { Call } from '../gateway/index.ts';
import { canElicit, Server, SERVER_SHAPE } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';

/** Whether the client of a call can ask its user something. */
export function canAskUser({ session }: Call): boolean {
  return canElicit(session.client.capabilities, undefined);
}

/** Asks the user of a call's client. Resolves with whether they agree; undefined if the call was cancelled. */
export function askUser(message: string, call: Call): Promise<boolean | undefined> {
  const { client } = call.session;
  return new Promise((resolve) => {
    const request = {
      jsonrpc: '2.0',
      id: 0,
      method: 'elicitation/create',
      params: { message, requestedSchema: { type: 'object', properties: {} } },
    };
    const id = client.ask(Message.from(request, SERVER_SHAPE), {
      answered: (answer) => {
        const result = answer.value(Server.result);
        resolve(isObject(result) && result.action === 'accept');
      },
      unanswered: () => resolve(false),
    });
    // With the call, the question is cancelled too.
    call.runBy({
      cancelled: () => {
        client.withdraw(id, 'The request was cancelled.');
        resolve(undefined);
      },
    });
  });
}
