import { RpcError, sleep, takes, text } from './server.mjs';

/** The well-behaved tools of `echo`, and what the bad servers offer beside their vice. */
export const echoTools = {
  echo: {
    description: 'Gives the text back.',
    inputSchema: takes({ text: 'string' }, ['text']),
    run: ({ text: said }) => String(said),
  },
  slow_echo: {
    description: 'Gives the text back after some milliseconds. Stops early when cancelled.',
    inputSchema: takes({ text: 'string', ms: 'number' }, ['text']),
    run: async ({ text: said, ms = 100 }, { signal }) => {
      await Promise.race([sleep(ms), new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      return String(said);
    },
  },
  add: {
    description: 'Adds two numbers.',
    inputSchema: takes({ a: 'number', b: 'number' }, ['a', 'b']),
    run: ({ a, b }) => String(a + b),
  },
  fail: {
    description: 'Fails inside the tool: an isError result with the given message.',
    inputSchema: takes({ message: 'string' }),
    run: ({ message = 'failed as asked' }) => ({ ...text(message), isError: true }),
  },
  reject: {
    description: 'Fails outside the tool: a JSON-RPC error with data.',
    inputSchema: takes({ code: 'integer', message: 'string' }),
    run: ({ code = -32602, message = 'rejected as asked' }) => {
      throw new RpcError(code, message, { field: 'text', seen: [1, 2, 3] });
    },
  },
  canary: {
    description: 'Answers at once, with the number it was given.',
    inputSchema: takes({ n: 'number' }),
    run: ({ n = 0 }) => `canary ${n}`,
  },
  big: {
    description: 'A text result of that many bytes.',
    inputSchema: takes({ bytes: 'integer' }, ['bytes']),
    run: ({ bytes }) => 'x'.repeat(bytes),
  },
  structured: {
    description: 'A structured result of about that many bytes, and the same as text.',
    inputSchema: takes({ bytes: 'integer' }, ['bytes']),
    outputSchema: takes({ bytes: 'integer', filler: 'string' }, ['bytes', 'filler']),
    run: ({ bytes }) => {
      const structuredContent = { bytes, filler: 'x'.repeat(bytes) };
      return { ...text(structuredContent), structuredContent };
    },
  },
  env: {
    description: 'Says whether an environment variable is set, and its value.',
    inputSchema: takes({ name: 'string' }, ['name']),
    run: ({ name }) => text({ name, set: name in process.env, value: process.env[name] ?? null }),
  },
  pid: { description: 'The process id of this server.', run: () => String(process.pid) },
  cwd: { description: 'The working directory of this server.', run: () => process.cwd() },
  whoami: {
    description:
      'Process id, arguments and working directory of this server, and what the client said of itself.',
    run: (_args, { server }) =>
      text({
        pid: process.pid,
        args: process.argv.slice(2),
        cwd: process.cwd(),
        client: server.client ?? null,
      }),
  },
  received: {
    description: 'The methods this server has received so far, in order.',
    run: (_args, { server }) => text(server.received),
  },
};

const { echo, pid, canary } = echoTools;
/** The three that every bad server offers, to show that it still works otherwise. */
export const basicTools = { echo, pid, canary };
