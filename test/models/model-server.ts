import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { atTestEnd, type TestScope } from '../helpers/cleanup.ts';
import { until } from '../helpers/until.ts';
import type { ModelServerRequest, Script, ScriptedFailure, ScriptedSpeech, ScriptedTurn } from './script.ts';

/** A model on loopback that says what its script says. */
export interface ModelServer {
  /** What to set as base URL: no path, no slash at the end. */
  readonly url: string;
  /** What it was asked, the oldest first; also requests that break the rules of the API. */
  readonly requests: readonly ModelServerRequest[];
  /** Resolves with the request of this number (from 0) as soon as it has come. */
  asked(number: number): Promise<ModelServerRequest>;
  /** Happens by itself at the end of the test it was started in. */
  close(): Promise<void>;
}

/** How one API says things. */
export interface Speech {
  /** Where it is asked, `/v1/messages`. */
  readonly path: string;
  /** What the API would refuse, and with which status. */
  check(request: { readonly headers: Record<string, string>; readonly body: any }): Refusal | undefined;
  /** Whether it streams when it is asked to. Default true. */
  readonly streams?: boolean;
  /** The body of an error. */
  failure(failure: ScriptedFailure): object;
  whole(turn: ScriptedSpeech, body: any): object;
  /** The events of a turn, each as the text that is sent; where it happens, the middle comes after the first half. */
  events(turn: ScriptedSpeech, body: any): readonly string[];
  /** The event of an overload. */
  readonly overloaded: string;
  /** An event with some text, to be sent without end. */
  chatter(): string;
}

export interface Refusal {
  readonly status: number;
  readonly message: string;
}

export async function startModelServer(
  speech: Speech,
  script: Script,
  scope?: TestScope,
): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  let turns = 0;

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    let ended = (): void => undefined;
    const over = new Promise<void>((resolve) => (ended = resolve));
    response.once('close', ended);
    const text = await read(message);
    const headers = message.headers as Record<string, string>;
    const path = message.url ?? '';
    const body = parsed(text);
    const refusal = refusalOf(speech, message, { headers, body });
    const request = {
      path,
      headers,
      body,
      fault: refusal?.message,
      get gone() {
        return response.closed && !response.writableFinished;
      },
      over,
    };
    requests.push(request);
    if (refusal !== undefined) {
      fail(speech, response, refusal);
      return;
    }
    const number = turns++;
    const turn: ScriptedTurn | undefined =
      typeof script === 'function' ? await script(request, number) : script[number];
    if (turn === undefined) {
      fail(speech, response, { status: 400, message: `The script has no turn ${number}.` });
    } else await say(speech, response, turn, body);
  };

  const server = createServer((message, response) => {
    handle(message, response).catch((error: unknown) => {
      // A client that went away is what some tests are about; anything else must be seen by the test.
      if (!response.headersSent) fail(speech, response, { status: 400, message: String(error) });
      else response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  atTestEnd(close, scope);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    asked: (number) => until(() => requests[number], { what: `request ${number} to the model` }),
    close,
  };
}

function refusalOf(
  speech: Speech,
  message: IncomingMessage,
  request: { headers: Record<string, string>; body: any },
): Refusal | undefined {
  if (message.method !== 'POST' || message.url?.split('?')[0] !== speech.path) {
    return { status: 404, message: 'Not found' };
  }
  if (typeof request.body !== 'object' || request.body === null) {
    return { status: 400, message: 'The request body is not valid JSON.' };
  }
  return speech.check(request);
}

async function say(speech: Speech, response: ServerResponse, turn: ScriptedTurn, body: any): Promise<void> {
  if (typeof turn === 'string') await speak(speech, response, { text: turn }, body);
  else if ('status' in turn) fail(speech, response, turn);
  else if (!('instead' in turn)) await speak(speech, response, turn, body);
  else if (turn.instead === 'drop') response.destroy();
}

async function speak(
  speech: Speech,
  response: ServerResponse,
  turn: ScriptedSpeech,
  body: any,
): Promise<void> {
  if (body.stream !== true || speech.streams === false) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(speech.whole(turn, body)));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const events = speech.events(turn, body);
  if (turn.midway === undefined) {
    for (const event of events) response.write(event);
    response.end();
    return;
  }
  for (const event of events.slice(0, Math.ceil(events.length / 2))) response.write(event);
  switch (turn.midway) {
    case 'error':
      response.end(speech.overloaded);
      return;
    case 'garbage':
      response.end('event: content_block_delta\ndata: {"type": oops\n\n');
      return;
    case 'end':
      response.end();
      return;
    case 'break':
      // What was written has to be on its way first, so that the client sees the answer begin.
      await new Promise((resolve) => response.write(': \n\n', resolve));
      response.destroy();
      return;
    case 'hang':
      return;
    case 'flood':
      await flood(response, speech.chatter());
  }
}

/** As fast as it is read, until the client goes away. */
async function flood(response: ServerResponse, event: string): Promise<void> {
  while (!response.destroyed) {
    if (response.write(event)) continue;
    const over = new AbortController();
    const { signal } = over;
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).catch(
      () => undefined,
    );
    over.abort();
  }
}

function fail(speech: Speech, response: ServerResponse, failure: ScriptedFailure): void {
  const { status, retryAfter, page } = failure;
  response.writeHead(status, {
    'content-type': page === undefined ? 'application/json' : 'text/html',
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  });
  response.end(page ?? JSON.stringify(speech.failure(failure)));
}

async function read(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
