import { connect } from 'node:net';
import { isObject } from '../../../shared/is-object.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import type { ControlAddress } from './control-channel.ts';

/** The longest response, in UTF-16 units, and the default of `timeoutMs`. */
const MAX_RESPONSE = 1024 * 1024;
const TIMEOUT_MS = 5000;

/**
 * Sends one request to a running gateway. Resolves with the result; rejects with an Error that says why there is none.
 */
export function askGateway(
  { path, token }: ControlAddress,
  method: string,
  timeoutMs = TIMEOUT_MS,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const fail = (error: Error): void => {
      reject(error);
      socket.destroy();
    };
    const tooLong = setTimeout(() => fail(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_RESPONSE) fail(new Error('the response is too long'));
    });
    socket.once('error', fail);
    socket.once('close', () => {
      clearTimeout(tooLong);
      try {
        const response: unknown = JSON.parse(text);
        if (isObject(response) && 'result' in response) resolve(response.result);
        else reject(new Error(isObject(response) ? String(response.error) : 'the response is invalid'));
      } catch {
        reject(new Error('it closed the connection'));
      }
    });
    socket.write(`${JSON.stringify({ token, method })}\n`);
  });
}

/**
 * Whether nobody is listening there any more. A named pipe disappears with its gateway; a socket may be left behind.
 */
export function isControlGone({ path }: ControlAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error) => resolve(nodeErrorCode(error) === 'ENOENT'));
  });
}
