import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';

/** A server's JSON-RPC error, as the server sent it. */
export class ServerError extends SwitchboardError {
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(message: string, rpcCode: number, data: unknown) {
    super('SERVER_ERROR', message);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** Reads the error of an answer, in whatever form the server sent it. */
export function serverError(error: unknown): ServerError {
  if (!isObject(error)) return new ServerError(String(error), 0, undefined);
  const message = typeof error.message === 'string' ? error.message : JSON.stringify(error);
  return new ServerError(message, typeof error.code === 'number' ? error.code : 0, error.data);
}
