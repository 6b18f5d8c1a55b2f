/**
 * The tasks extension of the modern era: tools that answer at once with a task, whose result is fetched later.
 */
import { randomUUID } from 'node:crypto';
import { lacking, RpcError, runTool } from './answer.mjs';

export const TASKS = 'io.modelcontextprotocol/tasks';

const ask = (message, properties) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } },
});
const named = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

/** Waits, unless the task is cancelled before. */
const rest = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * As the other tools, and `task`: 'optional' runs at once for clients without the extension, 'required' refuses them.
 * `before` runs while the call does, and hands what it gives to the task.
 */
export const TASK_TOOLS = {
  greet: {
    description: 'Greets somebody, at once.',
    inputSchema: named('name'),
    run: ({ name }) => `Hello, ${name}!`,
  },
  slow_compute: {
    description: 'Takes as many seconds as it is told.',
    inputSchema: { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } } },
    task: 'optional',
    run: async ({ seconds = 1 }, call) => {
      await rest(seconds * 1000, call.signal);
      return `Computed for ${seconds} seconds.`;
    },
  },
  failing_job: {
    description: 'Fails as a tool does.',
    task: 'required',
    run: async (args, call) => {
      await rest(1000, call.signal);
      throw new Error('The job has failed.');
    },
  },
  protocol_error_job: {
    description: 'Fails as a server does.',
    task: 'optional',
    run: () => {
      throw new RpcError(-32603, 'The server failed at this.');
    },
  },
  confirm_delete: {
    description: 'Asks before it deletes (nothing).',
    inputSchema: named('filename'),
    task: 'optional',
    run: async ({ filename }, call) => {
      const { confirm } = await call.ask({
        confirm: ask(`Delete ${filename}?`, { confirm: { type: 'boolean' } }),
      });
      return confirm.content?.confirm === true ? `Deleted ${filename}.` : `Kept ${filename}.`;
    },
  },
  multi_input: {
    description: 'Asks two things at once.',
    task: 'optional',
    run: async (args, call) => {
      const answers = await call.ask({
        first: ask('First name?', { name: { type: 'string' } }),
        second: ask('Second name?', { name: { type: 'string' } }),
      });
      return `Got ${Object.values(answers)
        .map(({ content }) => content?.name)
        .join(' and ')}.`;
    },
  },
  test_tool_with_task: {
    description: 'Asks for a name, then greets in a task.',
    task: 'required',
    before: async (call) => {
      const { user_name: answer } = await call.ask({
        user_name: ask('What is your name?', { name: { type: 'string' } }),
      });
      return answer.content?.name;
    },
    run: (args, call, name) => `Hello, ${name}!`,
  },
};

export async function createTask(tool, args, call) {
  const before = await tool.before?.(call);
  const controller = new AbortController();
  const now = new Date().toISOString();
  const task = {
    controller,
    pending: {},
    state: { status: 'working' },
    createdAt: now,
    lastUpdatedAt: now,
    taskId: randomUUID(),
  };
  call.serverState.tasks.set(task.taskId, task);
  const settle = (state) => {
    if (isOver(task)) return;
    task.state = state;
    task.lastUpdatedAt = new Date().toISOString();
  };
  const inTask = {
    ...call,
    signal: controller.signal,
    ask: (requests) =>
      new Promise((resolve) => {
        task.pending = { ...requests };
        task.answers = {};
        task.resume = () => {
          settle({ status: 'working' });
          resolve(task.answers);
        };
        settle({ status: 'input_required' });
      }),
  };
  controller.signal.addEventListener('abort', () => settle({ status: 'cancelled' }));
  runTool(tool, args, inTask, before).then(
    (result) => settle({ status: 'completed', result }),
    (error) => settle({ status: 'failed', error: { code: error.code ?? -32603, message: error.message } }),
  );
  return { resultType: 'task', ...shown(task, 'working') };
}

const METHODS = {
  'tasks/get': (task) => ({
    ...shown(task, task.state.status),
    ...task.state,
    ...(task.state.status === 'input_required' && { inputRequests: task.pending }),
  }),
  'tasks/update': (task, { inputResponses = {} }) => {
    for (const [key, answer] of Object.entries(inputResponses)) {
      if (!Object.hasOwn(task.pending, key)) continue;
      delete task.pending[key];
      task.answers[key] = answer;
      if (Object.keys(task.pending).length === 0) task.resume();
    }
    return {};
  },
  'tasks/cancel': (task) => {
    task.controller.abort();
    return {};
  },
};

/** The answer to a method of the extension, or undefined when it is none. */
export function taskMethod(method, params, call) {
  if (!Object.hasOwn(METHODS, method)) return undefined;
  if (!call.hasTasks) throw lacking({ extensions: { [TASKS]: {} } });
  const task = call.serverState.tasks.get(params.taskId);
  if (task === undefined) throw new RpcError(-32602, 'Unknown task', { taskId: params.taskId });
  return METHODS[method](task, params);
}

const isOver = ({ state }) => ['completed', 'failed', 'cancelled'].includes(state.status);

const shown = ({ taskId, createdAt, lastUpdatedAt }, status) => ({
  taskId,
  status,
  createdAt,
  lastUpdatedAt,
  ttlMs: 60_000,
  pollIntervalMs: 100,
});
