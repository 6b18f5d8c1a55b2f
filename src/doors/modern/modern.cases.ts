import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { Gateway, type Call, type CatalogEntry } from '../../gateway/index.ts';
import { CLIENT_SHAPE, Meta, MODERN_VERSION, SERVER_SHAPE } from '../../protocol/index.ts';
import { Message, Peer, StreamTransport } from '../../wire/index.ts';
import { ModernEndpoint, type ModernEndpointOptions } from './endpoint.ts';

/** The capabilities of the clients here. */
const ABLE = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** One connection of a modern client. */
export interface TestConnection {
  readonly client: ModernEndpoint;
  readonly peer: Peer;
  /** Everything that was sent to the client, in order. */
  readonly messages: any[];
  /** Sends a request of the era. `params._meta` may have further members; undefined removes one. */
  readonly request: (id: string | number, method: string, params?: any) => void;
  /** Sends a call of a tool: `hold`, unless another one is named. */
  readonly call: (id: string | number, args?: object, more?: object) => void;
  /** Sends a request and resolves with its answer. */
  readonly ask: (id: string | number, method: string, params?: any) => Promise<any>;
  /** Resolves with the answer to this id, which may have arrived already. */
  readonly answerTo: (id: string | number) => Promise<any>;
  /** Resolves with the first message that matches, which may have arrived already. */
  readonly next: (wanted: (message: any) => boolean) => Promise<any>;
  /** Sends a message unchanged and does not wait. */
  readonly say: (message: object) => void;
  /** Drops the connection. */
  readonly vanish: () => void;
}

/** A modern client connected to a gateway with one tool, `hold`, whose calls the test answers itself. */
export interface ModernTestClient extends TestConnection {
  readonly gateway: Gateway;
  /** The next call of the tool. */
  readonly nextCall: () => Promise<Call>;
}

export const IDENTITY = { name: 'test', title: 'Test', version: '0', instructions: () => 'Be brief.' };

export function openModern(options: Partial<ModernEndpointOptions> = {}): ModernTestClient {
  const calls: Call[] = [];
  const takers: ((call: Call) => void)[] = [];
  const gateway = new Gateway({
    entries: [
      entryWith('test', (call) => {
        const taker = takers.shift();
        if (taker) taker(call);
        else calls.push(call);
      }),
    ],
  });
  const client = new ModernEndpoint({
    gateway,
    identity: IDENTITY,
    log: silentLogger,
    singleUser: true,
    ...options,
  });
  const connection = connectTo(client);
  onTestFinished(() => {
    connection.vanish();
    client.close();
  });
  return {
    ...connection,
    gateway,
    nextCall: () => {
      const call = calls.shift();
      return call ? Promise.resolve(call) : new Promise((resolve) => takers.push(resolve));
    },
  };
}

/** Opens a connection; the caller closes it with `vanish`. */
export function connectTo(client: ModernEndpoint): TestConnection {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new StreamTransport(input, output, { shape: CLIENT_SHAPE });
  const peer: Peer = new Peer(transport, CLIENT_SHAPE, {
    request: (message) => client.request(message, peer),
    notification: (message) => client.notification(message),
    refused: () => undefined,
    dropped: () => undefined,
    ended: () => undefined,
  });
  transport.readRareMembers();
  const { messages, next } = reading(output);
  const say = (message: object): void => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const answerTo = (id: string | number): Promise<any> =>
    next((message) => message.id === id && message.method === undefined);
  const request: TestConnection['request'] = (id, method, params = {}) =>
    say({ id, method, params: { ...params, _meta: { ...envelope(), ...params._meta } } });
  return {
    client,
    peer,
    messages,
    request,
    call: (id, args = {}, more = {}) => request(id, 'tools/call', { name: 'hold', arguments: args, ...more }),
    ask: (id, method, params) => {
      request(id, method, params);
      return answerTo(id);
    },
    answerTo,
    next,
    say,
    vanish: () => {
      client.leave(peer);
      peer.close();
      input.destroy();
      output.destroy();
    },
  };
}

/** The `_meta` that a request of the era must carry. */
export function envelope(capabilities: object = ABLE): Record<string, unknown> {
  return {
    [Meta.protocolVersion]: MODERN_VERSION,
    [Meta.clientInfo]: { name: 'raw', version: '0' },
    [Meta.clientCapabilities]: capabilities,
  };
}

/** A message from a server. */
export function serverMessage(message: object): Message {
  return Message.from({ jsonrpc: '2.0', ...message }, SERVER_SHAPE);
}

/** A server's question and its outcome. */
export interface AskedClient {
  readonly id: number;
  /** The answer, or `unanswered` with a reason if none can arrive any more. */
  readonly outcome: Promise<any>;
}

/** The server of a call asks its client a question. */
export function askDuring(
  call: Call,
  method = 'elicitation/create',
  params: object = { message: 'Well?' },
): AskedClient {
  let id = 0;
  const outcome = new Promise<any>((resolve) => {
    id = call.session.client.ask(serverMessage({ id: 'q', method, params }), {
      answered: (answer) => resolve(JSON.parse(answer.toString())),
      unanswered: (reason) => resolve({ unanswered: reason }),
    });
  });
  return { id, outcome };
}

/** An entry with one tool that runs this function. */
export function entryWith(name: string, run: (call: Call) => void, tool = 'hold'): CatalogEntry {
  return {
    // Only its name, its state and its reaction to client settings are used here.
    source: {
      name,
      state: { kind: 'idle' },
      listen: () => undefined,
      notify: () => undefined,
      about: () => undefined,
    } as unknown as CatalogEntry['source'],
    rules: { allows: () => true, overrides: new Map() },
    offers: new Set(['tools']),
    naming: 'plain',
    exposure: {
      needsTools: false,
      present: () => [
        {
          names: [tool],
          definition: (shown) => JSON.stringify({ name: shown, inputSchema: { type: 'object' } }),
          run,
        },
      ],
    },
  };
}

function reading(output: PassThrough): Pick<ModernTestClient, 'messages' | 'next'> {
  const messages: any[] = [];
  const watchers = new Set<() => void>();
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    messages.push(...lines.map((line) => JSON.parse(line) as unknown));
    for (const watcher of [...watchers]) watcher();
  });
  return {
    messages,
    next: (wanted) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found: unknown = messages.find(wanted);
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
  };
}
