/**
 * Answers calls with tasks, under any id it is told to, also one that is another server's.
 *
 *   node test/servers/tasks.mjs [--name=tasks]
 *
 * Tools: job {task, ttl} (answered with a task of that id, finished already; it is listed from then on), claim {task}
 * (tasks/list names it from then on), echo, pid, canary. tasks/result and tasks/get answer for any id:
 * "<server> has the result of <id>".
 */
import { basicTools } from './lib/echo-tools.mjs';
import { serve, setting, takes, text } from './lib/server.mjs';

const name = setting('name', 'tasks');
const listed = new Map();

const taskOf = (taskId, ttl = 60_000) => ({
  taskId,
  status: 'completed',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl,
});

serve({
  name: 'tasks',
  capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  methods: {
    'tasks/list': () => ({ tasks: [...listed.values()] }),
    'tasks/get': ({ taskId }) => taskOf(taskId),
    'tasks/result': ({ taskId }) => text(`${name} has the result of ${taskId}`),
  },
  tools: {
    job: {
      description: 'Is answered with a task.',
      inputSchema: takes({ task: 'string', ttl: 'integer' }, ['task']),
      execution: { taskSupport: 'optional' },
      run: ({ task, ttl }) => {
        listed.set(task, taskOf(task, ttl));
        return { task: taskOf(task, ttl) };
      },
    },
    claim: {
      description: 'Lists a task from now on.',
      inputSchema: takes({ task: 'string' }, ['task']),
      run: ({ task }) => {
        listed.set(task, taskOf(task));
        return 'claimed';
      },
    },
    ...basicTools,
  },
});
