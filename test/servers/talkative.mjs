/**
 * Tells its client far more than anybody can read, one thing after the other, and never more than its pipe takes.
 *
 *   node test/servers/talkative.mjs
 *
 * Tools: pour {kind: "log" | "updated", count, bytes} sends that many notifications of about that many bytes each, numbered
 * from 1 as `params.n`, and answers when all are written; echo, pid, canary. Resource: talk://a.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { serve, takes } from './lib/server.mjs';

const put = (text) => new Promise((resolve) => process.stdout.write(text, resolve));

const KINDS = {
  log: { method: 'notifications/message', params: { level: 'info', logger: 'talkative' } },
  updated: { method: 'notifications/resources/updated', params: { uri: 'talk://a' } },
};

serve({
  name: 'talkative',
  capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
  methods: {
    'logging/setLevel': () => ({}),
    'resources/list': () => ({ resources: [{ uri: 'talk://a', name: 'a' }] }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
  },
  tools: {
    pour: {
      description: 'Sends many notifications, then answers.',
      inputSchema: takes({ kind: 'string', count: 'integer', bytes: 'integer' }, ['kind', 'count', 'bytes']),
      run: async ({ kind, count, bytes }) => {
        const { method, params } = KINDS[kind];
        const data = 'x'.repeat(bytes);
        for (let n = 1; n <= count; n++) {
          await put(`${JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, n, data } })}\n`);
        }
        return `poured ${count}`;
      },
    },
    ...basicTools,
  },
});
