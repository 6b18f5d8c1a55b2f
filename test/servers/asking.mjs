/**
 * Asks its client questions while a call runs, also such as the client never said that it can answer. Two of these use
 * the same ids and progress tokens, so that whoever mixes them up gives the answer to the wrong one.
 *
 *   node test/servers/asking.mjs [--name=asking] [--asks-first] [--stuck-once=file]
 *
 * Every question names this server and the tag of the call ("left:7"), and every call gives back, as JSON text, what it
 * was answered: {"result": …} or {"error": …}, and {"progress": […]} where progress for the question came.
 *   ask_form {tag, progress, keep, workMs}, ask_url {tag}, ask_model {tag} (sampling), ask_roots {tag} (the name is in _meta),
 *   ask_ping {tag}, ask_unknown {tag} (a method nobody knows)
 *   ask_then_cancel {tag}   asks a form, withdraws the question and gives back "withdrawn"
 *   ask_many {tag, n, summary}   n forms in one write, tagged "tag-1" …; gives back the list of what it was answered,
 *                           with `summary` how often which: {"result": 64, "-32000": 9936}
 * A call that is cancelled withdraws its question, but not with `keep`; with `workMs` it works for so long once it is
 * answered. `--asks-first`: asks a form with the tag "first" before it answers initialize. `--stuck-once`: so does the
 * first life, which makes the file, and never answers initialize at all. Others:
 *   hang (never answers), tally (questions so far: {asked, open, …answers as in a summary}), received (methods, in order), level (the last one
 *   set), capabilities (what the client declared), cancellations, log {level, tag}, echo, pid, canary
 */
import { existsSync, writeFileSync } from 'node:fs';
import { basicTools, echoTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, flag, nextTurn, serve, setting, sleep, takes, text } from './lib/server.mjs';

const name = setting('name', 'asking');
const stuckOnce = setting('stuck-once');
const stuck = stuckOnce !== undefined && !existsSync(stuckOnce);
if (stuck) writeFileSync(stuckOnce, '');
const progressFor = new Map(); // our progress token → reports
const tally = { asked: 0, open: 0 };
let level = null;
let lastId = 0;

const form = (asker) => ({
  message: `${asker} asks: which colour?`,
  requestedSchema: takes({ answer: 'string' }, ['answer']),
});

const QUESTIONS = {
  ask_form: ['Asks a form.', 'elicitation/create', form],
  ask_url: [
    'Asks to open a page.',
    'elicitation/create',
    (asker) => ({
      mode: 'url',
      message: `${asker} asks: open this?`,
      url: `https://example.org/${asker}`,
      elicitationId: asker,
    }),
  ],
  ask_model: [
    'Asks the model.',
    'sampling/createMessage',
    (asker) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `${asker} asks: well?` } }],
      maxTokens: 16,
    }),
  ],
  ask_roots: ['Asks for the roots.', 'roots/list', (asker) => ({ _meta: { 'example.org/asker': asker } })],
  ask_ping: ['Asks whether anybody is there.', 'ping', () => undefined],
  ask_unknown: ['Asks what nobody knows.', 'vendor.example/ask', (asker) => ({ asker })],
};

/** Asks, and resolves with what was answered, without the envelope. */
async function ask(server, method, params, signal, wantsProgress = false) {
  const id = ++lastId;
  if (wantsProgress) {
    progressFor.set(id, []);
    params = { ...params, _meta: { ...params?._meta, progressToken: id } };
  }
  const withdraw = () => server.notify('notifications/cancelled', { requestId: id, reason: 'withdrawn' });
  signal?.addEventListener('abort', withdraw);
  tally.asked++;
  tally.open++;
  const { result, error } = await server.request(method, params, id);
  signal?.removeEventListener('abort', withdraw);
  const kind = error === undefined ? 'result' : String(error.code);
  tally.open--;
  tally[kind] = (tally[kind] ?? 0) + 1;
  return { result, error, progress: progressFor.get(id) };
}

const asking = ([description, method, paramsOf]) => ({
  description,
  inputSchema: takes({ tag: 'string', progress: 'boolean', keep: 'boolean', workMs: 'number' }, ['tag']),
  run: async ({ tag, progress, keep = false, workMs = 0 }, { server, signal }) => {
    const about = paramsOf(`${name}:${tag}`);
    const answer = await ask(server, method, about, keep ? undefined : signal, progress);
    await sleep(workMs);
    return text(answer);
  },
});

/** How often which answer came. */
function summarise(answers) {
  const counts = {};
  for (const { error } of answers) {
    const kind = error === undefined ? 'result' : String(error.code);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

serve({
  name: 'asking',
  capabilities: { tools: { listChanged: true }, logging: {} },
  methods: {
    initialize: (params, ctx, standard) => {
      if (stuck || flag('asks-first')) void ask(ctx.server, 'elicitation/create', form(`${name}:first`));
      return stuck ? NO_ANSWER : standard(params, ctx);
    },
    'logging/setLevel': (params) => {
      level = params.level;
      return {};
    },
  },
  onNotification: ({ method, params }) => {
    if (method === 'notifications/progress') progressFor.get(params.progressToken)?.push(params);
  },
  tools: {
    ...Object.fromEntries(Object.entries(QUESTIONS).map(([tool, question]) => [tool, asking(question)])),
    ask_then_cancel: {
      description: 'Asks a form and withdraws the question.',
      inputSchema: takes({ tag: 'string' }, ['tag']),
      run: async ({ tag }, { server }) => {
        const withdrawn = new AbortController();
        void ask(server, 'elicitation/create', form(`${name}:${tag}`), withdrawn.signal);
        await nextTurn();
        withdrawn.abort();
        return 'withdrawn';
      },
    },
    ask_many: {
      description: 'Asks many forms at once.',
      inputSchema: takes({ tag: 'string', n: 'integer', summary: 'boolean' }, ['tag']),
      run: async ({ tag, n = 10, summary = false }, { server, signal }) => {
        const answers = await Promise.all(
          Array.from({ length: n }, (_, index) =>
            ask(server, 'elicitation/create', form(`${name}:${tag}-${index + 1}`), signal),
          ),
        );
        return text(summary ? summarise(answers) : answers);
      },
    },
    hang: { description: 'Never answers.', run: () => new Promise(() => {}) },
    tally: { description: 'The questions so far, and what they were answered.', run: () => text(tally) },
    level: { description: 'The log level that was set last.', run: () => JSON.stringify(level) },
    capabilities: {
      description: 'What the client said that it can do.',
      run: (_args, { server }) => text(server.client?.capabilities ?? null),
    },
    cancellations: {
      description: 'The cancellations that arrived.',
      run: (_args, { server }) => text(server.cancellations),
    },
    log: {
      description: 'Logs a line that names this server and the tag.',
      inputSchema: takes({ level: 'string', tag: 'string' }),
      run: ({ level: severity = 'warning', tag = '' }, { server }) => {
        server.notify('notifications/message', { level: severity, logger: name, data: `${name}:${tag}` });
        return 'logged';
      },
    },
    received: echoTools.received,
    ...basicTools,
  },
});
