import type { ServerResponse } from 'node:http';
import { startScriptedHttp } from '../servers/scripted-http.mjs';
import type { Abuser } from './abusers.ts';
import { atTestEnd } from './cleanup.ts';
import { startOddServer } from './remote-server.ts';
import { nodeServer } from './temp-project.ts';
import type { ServerCommand } from './temp-project.ts';

/** A way to disturb other clients: a server that does it, or can be made to. */
export interface Abuse {
  readonly name: string;
  readonly server: AbusedServer | (() => Promise<AbusedServer>);
  readonly run: (abuser: Abuser) => Promise<unknown>;
  /** Further servers, by name. */
  readonly others?: Readonly<Record<string, AbusedServer>>;
  /** Further keys of the configuration. */
  readonly config?: object;
  /** Its hooks, in JavaScript. */
  readonly hooks?: string;
  /** Whether it needs a request that is too long for HTTP. Default false. */
  readonly needsStdio?: boolean;
  /**
   * Whether calls to other servers may wait for it longer than usual: in the thread of the hooks, or for several turns
   * in a row. Default false.
   */
  readonly delaysCalls?: boolean;
  /** Whether it sends megabytes to the client itself, which delays the client's other responses. Default false. */
  readonly fillsClient?: boolean;
}

type AbusedServer = (ServerCommand | { readonly url: string }) & {
  readonly exposure?: string;
  readonly results?: object;
  readonly pin?: string;
};

/** Its entry in a configuration. Starts a remote server for it, which runs until the end of the test. */
export async function startAbused({ server }: Abuse): Promise<AbusedServer> {
  return typeof server === 'function' ? server() : server;
}

const LONG = { deadline: 120_000 };
const MB = 1_048_576;

const hostile = (...flags: string[]): ServerCommand => nodeServer('hostile', ...flags);
const call =
  (subtool: string, args: object = {}): Abuse['run'] =>
  (abuser) =>
    abuser.call('bad_suite', { action: 'call', subtool, args }, LONG);
const introspect =
  (more: object = {}): Abuse['run'] =>
  (abuser) =>
    abuser.call('bad_suite', { action: 'introspect', ...more }, LONG);

const LISTS = ['schemas', 'item', 'items', 'members', 'names', 'collisions', 'hidden'];
const FLAT_SCHEMAS = { ...hostile('--list=schemas'), exposure: 'flat' };
const ANSWERS = ['links', 'structured', 'bare', 'error', 'batch', 'members', 'numbers'];

/** A remote server that lists its tools and answers a call of `bad` with whatever `write` sends. */
const remote =
  (answer: (response: ServerResponse, id: string) => void, path = '/mcp') =>
  async () => {
    const server = await startOddServer({
      before: (_, response, body) => {
        const { id, method } = body === '' ? ({} as Record<string, unknown>) : JSON.parse(body);
        if (method !== 'tools/call') return undefined;
        answer(response, JSON.stringify(id));
        return true;
      },
    });
    return { url: server.origin + path };
  };

const events = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });

/** Writes a text until that many bytes are sent or nobody is listening, then the end. */
function pour(response: ServerResponse, text: string, bytes: number, end = ''): void {
  const chunk = text.repeat(Math.ceil(65_536 / text.length));
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (response.write(chunk)) continue;
      response.once('drain', more);
      return;
    }
    response.end(end);
  };
  more();
}

const answerText = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`;
const LOG_EVENT =
  'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n';

const NOT_ASCII = 'é'.repeat(6 * MB);
const SMALL_OBJECTS = Array.from({ length: (12 * MB) / 9 }, () => ({ a: [] }));
const CHANGING_HOOKS = `
  export const beforeCall = ({ arguments: args }) => ({ arguments: { ...args, seen: true } });
  export const afterCall = ({ result }) => ({ result: { ...result, seen: true } });`;

/** Calls with megabytes of arguments or results, and settings that process them. */
const LONG_CALLS: readonly Abuse[] = [
  ...Object.entries({ text: NOT_ASCII, objects: SMALL_OBJECTS }).map(([kind, value]): Abuse => ({
    name: `12 MB of ${kind} in arguments that a hook changes`,
    server: nodeServer('echo'),
    hooks: CHANGING_HOOKS,
    delaysCalls: true,
    run: call('canary', { n: 1, value }),
    needsStdio: true,
  })),
  ...['foreign', 'bare'].map((kind): Abuse => ({
    name: `an answer of ${kind} that a hook changes`,
    server: hostile(),
    hooks: CHANGING_HOOKS,
    delaysCalls: true,
    run: call('answer', { kind }),
    fillsClient: true,
  })),
  {
    name: '12 MB of text in arguments of which the audit log keeps the hash',
    server: nodeServer('echo'),
    config: { audit: { arguments: true } },
    run: call('canary', { n: 1, value: NOT_ASCII }),
    needsStdio: true,
  },
];

const REMOTE_ABUSES: readonly Abuse[] = [
  ...['huge', 'huge_chunked', 'huge_events'].map((tool): Abuse => ({
    name: `an answer of 64 MB of a remote server, ${tool}`,
    server: async () => ({ url: (await startOddServer()).url }),
    run: call(tool, { bytes: 64 * MB }),
  })),
  {
    name: 'an answer of 64 MB over SSE',
    server: async () => ({ url: `${(await startOddServer()).origin}/sse` }),
    run: call('huge', { bytes: 64 * MB }),
  },
  ...[': nothing\n', 'data: x\n', '\n', ': nothing\n\n', 'data: x\n\n'].map((line): Abuse => ({
    name: `64 MB of event lines ${JSON.stringify(line)}`,
    server: remote((response, id) =>
      pour(events(response), line, 64 * MB, `\n\ndata: ${answerText(id)}\n\n`),
    ),
    run: call('ok'),
  })),
  {
    name: '200,000 notifications of a remote server',
    server: remote((response, id) =>
      pour(events(response), LOG_EVENT, 200_000 * LOG_EVENT.length, `data: ${answerText(id)}\n\n`),
    ),
    run: call('ok'),
    fillsClient: true,
  },
  {
    name: '12 MB of small parts in an answer of a remote server',
    server: remote((response, id) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"x":[`);
      pour(response, '{"a":[]},', 12 * MB, '0]}}');
    }),
    run: call('ok'),
    fillsClient: true,
  },
  {
    name: 'a body of a remote server that is no JSON',
    server: remote((response) =>
      pour(response.writeHead(200, { 'content-type': 'application/json' }), '{"id":[', 64 * MB),
    ),
    run: call('ok'),
  },
  ...[true, false].flatMap((modern) =>
    [true, false].map((asEvents): Abuse => ({
      name: `8 MB of lines of a ${modern ? 'modern' : 'legacy'} remote server as ${asEvents ? 'events' : 'JSON'}`,
      server: async () => {
        const server = await startScriptedHttp({ modern, events: asEvents });
        atTestEnd(() => server.close());
        return { url: server.url };
      },
      run: call('script', {
        bytes: Buffer.from('{"jsonrpc":"2.0","id":\n'.repeat(200_000)).toString('base64'),
        cuts: Array.from({ length: 100 }, (_, n) => n * 50_000),
      }),
    })),
  ),
];

export const ABUSES: readonly Abuse[] = [
  ...LISTS.flatMap((list): Abuse[] => [
    { name: `a list of ${list}`, server: hostile(`--list=${list}`), run: introspect() },
    {
      name: `a list of ${list}, exposed flat`,
      server: { ...hostile(`--list=${list}`), exposure: 'flat' },
      run: (abuser) => abuser.request('tools/list', {}, LONG),
      fillsClient: true,
    },
  ]),
  {
    name: 'lists of 24 MB of six servers together, exposed flat',
    server: FLAT_SCHEMAS,
    others: Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`bad${n}`, FLAT_SCHEMAS])),
    run: (abuser) => abuser.request('tools/list', {}, LONG),
    fillsClient: true,
    delaysCalls: true,
  },
  {
    name: 'a list of schemas that is asked for in full',
    server: hostile('--list=schemas'),
    run: introspect({ verbosity: 'full' }),
    fillsClient: true,
  },
  ...['schemas', 'hidden'].map((list): Abuse => ({
    name: `a list of ${list} that is compared with the one of before`,
    server: { ...hostile(`--list=${list}`), pin: 'block' },
    run: call('fine'),
  })),
  {
    name: 'a thousand tools of 7 kB',
    server: nodeServer('many-tools', '--count=1000', '--description-bytes=7000'),
    run: introspect(),
  },
  {
    name: 'names much like the one that is called',
    server: hostile('--list=names'),
    run: call(`${'long_name_'.repeat(19)}none`),
  },
  { name: 'megabytes in initialize', server: hostile('--info'), run: call('fine') },
  ...ANSWERS.map((kind): Abuse => ({
    name: `an answer of ${kind}`,
    server: hostile(),
    run: call('answer', { kind }),
    fillsClient: true,
  })),
  ...['texts', 'mixed', 'text', 'copies'].map((kind): Abuse => ({
    name: `an answer of ${kind} that is shortened`,
    server: { ...hostile(), results: { maxTokens: 500, minify: true } },
    run: call('answer', { kind }),
  })),
  ...['x', '{', '{}', '{"jsonrpc":"2.0","id":1}', '"id": 7,'].map((line): Abuse => ({
    name: `320 MB of lines ${line}`,
    server: hostile(),
    run: call('lines', { line }),
  })),
  {
    name: 'half a million notifications',
    server: nodeServer('flood'),
    run: call('notify_flood', { method: 'notifications/message', count: 500_000 }),
    fillsClient: true,
  },
  {
    name: '300,000 changes of a list',
    server: { ...nodeServer('flood'), exposure: 'flat' },
    run: (abuser) =>
      abuser.call('bad__notify_flood', { method: 'notifications/tools/list_changed', count: 300_000 }, LONG),
  },
  {
    name: '300,000 reports of progress for nobody',
    server: nodeServer('progress'),
    run: call('stray', { n: 300_000 }),
  },
  ...['sampling/createMessage', 'ping'].map((method): Abuse => ({
    name: `100,000 requests for ${method}`,
    server: nodeServer('asks'),
    run: call('ask_many', { count: 100_000, method }),
  })),
  ...['log', 'updated'].map((kind): Abuse => ({
    name: `200,000 notifications of kind ${kind}`,
    server: nodeServer('talkative'),
    run: call('pour', { kind, count: 200_000, bytes: 50 }),
    fillsClient: true,
  })),
  {
    name: '64 MB on stderr',
    server: nodeServer('flood'),
    run: call('flood', { stream: 'stderr', bytes: 64 * MB }),
  },
  { name: 'an answer of 64 MB', server: nodeServer('huge'), run: call('huge') },
  { name: 'an answer a million levels deep', server: nodeServer('huge'), run: call('deep') },
  {
    name: 'an answer that never ends',
    server: nodeServer('huge'),
    run: call('no_newline', { bytes: 200 * MB }),
  },
  {
    name: 'pages that never end',
    server: nodeServer('pages', '--endless', '--per-page=1000'),
    run: introspect(),
  },
  {
    name: '10000 tools',
    server: { ...nodeServer('many-tools', '--count=10000', '--description-bytes=800'), exposure: 'flat' },
    fillsClient: true,
    run: (abuser) => abuser.request('tools/list', {}, LONG),
  },
  {
    name: 'schemas that refer to themselves',
    server: nodeServer('many-tools', '--schema=ref-bomb'),
    run: introspect(),
  },
  {
    name: 'megabytes of params of a client',
    fillsClient: true,
    server: nodeServer('echo'),
    run: async (abuser) => {
      const objects = Array.from({ length: 1_000_000 }, () => ({ a: [] }));
      await abuser.request('tools/list', { objects }, LONG);
      await abuser.call('bad_suite', { action: 'introspect', objects }, LONG);
      await abuser.call('bad_suite', { action: 'call', subtool: 'echo', objects }, LONG);
    },
  },
  {
    name: 'megabytes of arguments as text',
    server: nodeServer('echo'),
    run: (abuser) => {
      const args = JSON.stringify({ x: Array.from({ length: 400_000 }, () => ({ a: [] })) });
      return abuser.call('bad_suite', { action: 'call', subtool: 'echo', args }, LONG);
    },
  },
  ...LONG_CALLS,
  ...REMOTE_ABUSES,
];
