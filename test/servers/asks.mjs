/**
 * Asks its client questions while a call runs. The result tells, as JSON text, what it was answered: the client's
 * {result} or {error}, or {unanswered: ms}.
 *
 *   node test/servers/asks.mjs [--number-ids] [--wait-ms=10000]
 *
 * `--number-ids`: its own requests are numbered 1, 2, 3 … and so collide with a naive client's ids (default "ask-1" …).
 * Tools: ask_ping, ask_sampling {text}, ask_elicitation {message}, ask_roots, ask_unknown, ask {method, params} (anything),
 * ask_many {count, method} (all at once; the result counts the answers by kind), client (what the client declared in
 * initialize), echo, pid, canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { flag, numberSetting, serve, sleep, takes, text } from './lib/server.mjs';

const wait = numberSetting('wait-ms', 10_000);
let number = 0;

async function ask(server, method, params) {
  const id = flag('number-ids') ? ++number : undefined;
  const response = await Promise.race([
    server.request(method, params, id),
    sleep(wait).then(() => ({ unanswered: wait })),
  ]);
  return { ...response, jsonrpc: undefined, id: undefined };
}

/** A tool that asks one thing. */
const asking = (description, method, paramsOf = () => undefined, properties = {}) => ({
  description,
  inputSchema: takes(properties),
  run: async (args, { server }) => text(await ask(server, method, paramsOf(args))),
});

serve({
  name: 'asks',
  tools: {
    ask_ping: asking('Sends ping.', 'ping'),
    ask_sampling: asking(
      'Asks for a completion.',
      'sampling/createMessage',
      ({ text: said = 'hello' }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: said } }],
        maxTokens: 16,
      }),
      { text: 'string' },
    ),
    ask_elicitation: asking(
      'Asks the person.',
      'elicitation/create',
      ({ message = 'Your name?' }) => ({ message, requestedSchema: takes({ name: 'string' }, ['name']) }),
      { message: 'string' },
    ),
    ask_roots: asking('Asks for the roots.', 'roots/list'),
    ask_unknown: asking('Asks with a method nobody knows.', 'nobody/knows', () => ({ x: 1 })),
    ask: {
      description: 'Asks anything.',
      inputSchema: takes({ method: 'string', params: 'object' }, ['method']),
      run: async ({ method, params }, { server }) => text(await ask(server, method, params)),
    },
    ask_many: {
      description: 'Asks the same many times at once.',
      inputSchema: takes({ count: 'integer', method: 'string' }),
      run: async ({ count = 100, method = 'ping' }, { server }) => {
        const answers = await Promise.all(Array.from({ length: count }, () => ask(server, method)));
        const kinds = { result: 0, error: 0, unanswered: 0 };
        for (const answer of answers)
          kinds['result' in answer ? 'result' : 'error' in answer ? 'error' : 'unanswered']++;
        return text(kinds);
      },
    },
    client: {
      description: 'What the client declared in initialize.',
      run: (_args, { server }) => text(server.client ?? null),
    },
    ...basicTools,
  },
});
