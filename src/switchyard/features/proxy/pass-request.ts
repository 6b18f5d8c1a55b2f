import { request as ask, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ServiceRecord } from '../../records/state/records.ts';
import type { BackendAgents } from './backend-agent.ts';
import { closeAfter, endToEnd, pairs, withOrigin } from './headers.ts';

export interface ProxiedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: ServiceRecord;
  /** As the client wrote it. */
  readonly host: string;
  /** The path with its query. */
  readonly target: string;
  readonly agents: BackendAgents;
  /** Called while nothing has been sent to the client. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Forwards a request to its service and the response back. Both bodies are streamed at the pace of the slower side; if
 * one side disconnects, the other one notices.
 */
export function passRequest(proxied: ProxiedRequest): void {
  const { request, response, onFailure } = proxied;
  const body = hasBody(request);
  const repeatable = !body && ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '');
  let continued = false;
  let outgoing = send(proxied, body, repeatable);
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  listen(false);

  function fail(sent: ClientRequest, error: unknown): void {
    // Otherwise the end of the pipe would pause the request, and its rest could not be discarded.
    request.unpipe(sent);
    onFailure(error);
  }

  function listen(repeated: boolean): void {
    const sent = outgoing;
    let settled = false;
    sent.on('continue', () => {
      continued = true;
      response.writeContinue();
    });
    sent.on('response', (answer) => {
      settled = true;
      passAnswer(proxied, answer, continued ? [] : closeAfter(request));
      // A service may respond without having read the whole body. The rest is discarded, so that the client gets the
      // response and can reuse the connection.
      answer.on('close', () => {
        if (sent.writableEnded) return;
        request.unpipe(sent);
        request.resume();
        sent.destroy();
      });
    });
    sent.on('error', (error) => {
      if (settled) return;
      settled = true;
      if (response.destroyed) return;
      if (sent.reusedSocket && repeatable && !repeated) {
        outgoing = send(proxied, body, false);
        listen(true);
      } else fail(sent, error);
    });
    sent.on('close', () => {
      // It spoke another protocol, or sent nothing at all.
      if (!settled && !response.destroyed) fail(sent, new Error('no response'));
    });
  }
}

function send(
  { request, route, host, target, agents }: ProxiedRequest,
  body: boolean,
  reuse: boolean,
): ClientRequest {
  const outgoing = ask({
    host: route.backend_host,
    port: route.port,
    method: request.method ?? 'GET',
    path: target,
    headers: [...withOrigin(endToEnd(request.rawHeaders), route, host), ...framing(request)],
    agent: reuse ? agents.kept : agents.fresh,
  });
  if (!body) {
    outgoing.end();
    return outgoing;
  }
  // The service may want to respond before the first byte of the body arrives.
  outgoing.flushHeaders();
  request.pipe(outgoing, { end: false });
  request.on('end', () => {
    if (request.rawTrailers.length > 0) outgoing.addTrailers(pairs(request.rawTrailers));
    outgoing.end();
  });
  return outgoing;
}

/** Methods for which Node's client sends no body unless a header announces one. */
const BODILESS = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'];

/** Headers about the body, besides the client's own Content-Length, which is forwarded like other headers. */
function framing({ method = 'GET', headers }: IncomingMessage): string[] {
  const { te, trailer, 'transfer-encoding': encoding, 'content-length': length } = headers;
  const wanted = String(te).trim().toLowerCase() === 'trailers' ? ['TE', 'trailers'] : [];
  if (encoding !== undefined) {
    const announced = trailer === undefined ? [] : ['Trailer', trailer];
    return [...wanted, 'Transfer-Encoding', 'chunked', ...announced];
  }
  // Node would send an empty chunked body, which many servers treat differently from none.
  if (length === undefined && !BODILESS.includes(method)) return [...wanted, 'Content-Length', '0'];
  return wanted;
}

function passAnswer(
  { response, onFailure }: ProxiedRequest,
  answer: IncomingMessage,
  more: readonly string[],
): void {
  answer.on('error', () => response.destroy());
  try {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
      ...endToEnd(answer.rawHeaders),
      ...more,
    ]);
  } catch (error) {
    // A header that must not be forwarded.
    answer.destroy();
    onFailure(error);
    return;
  }
  // An event stream sends nothing at first.
  response.flushHeaders();
  answer.pipe(response, { end: false });
  answer.on('end', () => {
    if (answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
    response.end();
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}
