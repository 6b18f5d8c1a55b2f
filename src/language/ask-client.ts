import { serverError, type Session } from '../gateway/index.ts';
import { canElicit, requiredCapability, SERVER_SHAPE, type JsonObject } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { MAX_PARSED, Message } from '../wire/index.ts';
import type { AskClient } from './model.ts';

/** Creates the function that sends requests to a client, if its capabilities allow them. */
export function askClient(session: Session, capabilities: JsonObject): AskClient {
  return async (method, params, signal) => {
    refuseWhatItCannot(method, capabilities);
    signal.throwIfAborted();
    const request = Message.from({ jsonrpc: '2.0', id: 0, method, params }, SERVER_SHAPE);
    return new Promise<JsonObject>((resolve, reject) => {
      let asked: number | undefined;
      const stop = (): void => {
        if (asked !== undefined) session.client.withdraw(asked, 'The parent request was cancelled.');
        reject(signal.reason as Error);
      };
      const settle = (then: () => void): void => {
        signal.removeEventListener('abort', stop);
        then();
      };
      signal.addEventListener('abort', stop);
      // No requests are sent to a client before its handshake is complete.
      session.whenReady(() => {
        if (signal.aborted) return;
        asked = session.client.ask(request, {
          answered: (answer) => settle(() => readAnswer(answer, method, resolve, reject)),
          unanswered: () => settle(() => reject(gone(method))),
        });
      });
    });
  };
}

function refuseWhatItCannot(method: string, capabilities: JsonObject): void {
  const needed = requiredCapability(method);
  const can =
    needed === 'elicitation'
      ? canElicit(capabilities, undefined)
      : needed === undefined || isObject(capabilities[needed]);
  if (!can)
    throw new SwitchboardError(
      'CLIENT_CANNOT',
      `The client does not support ${method}: it has not declared the capability.`,
    );
}

function readAnswer(
  answer: Message,
  method: string,
  resolve: (result: JsonObject) => void,
  reject: (error: Error) => void,
): void {
  if (answer.length > MAX_PARSED) {
    reject(new SwitchboardError('CLIENT_ANSWER_UNUSABLE', `The client's response to ${method} is too long.`));
    return;
  }
  const { result, error } = JSON.parse(answer.toString()) as { result?: unknown; error?: unknown };
  if (error !== undefined) reject(serverError(error));
  else if (isObject(result)) resolve(result);
  else
    reject(
      new SwitchboardError('CLIENT_ANSWER_UNUSABLE', `The client's response to ${method} is not an object.`),
    );
}

function gone(method: string): SwitchboardError {
  return new SwitchboardError('CLIENT_GONE', `The client disconnected before it responded to ${method}.`);
}
