/** What the thread offers to the code in its interpreter. */
export interface PreludeHost {
  /** Sends a call; `args` is the text of a JSON object. */
  readonly call: (id: number, server: string, tool: string, args: string) => void;
  readonly print: (line: string) => void;
  readonly startTimer: (id: number, ms: number) => void;
  readonly stopTimer: (id: number) => void;
  /** The error message for a tool that a server does not have. */
  readonly unknownTool: (server: string, tool: string) => string;
}

/** What the code in the interpreter offers to the thread. */
export interface PreludeControls {
  /** A call has ended: with a value, as JSON text, or with an error. */
  readonly resolve: (id: number, json: string) => void;
  readonly reject: (id: number, message: string, code: string) => void;
  readonly fire: (timer: number) => void;
  /** A value as JSON text; undefined if JSON cannot express it. Awaits a promise, and the promises in a list. */
  readonly describe: (value: unknown) => Promise<string | undefined>;
  /** A thrown value, as the JSON text of a `ThrownError`. */
  readonly explain: (thrown: unknown) => string;
}

/** A thrown value. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** If a call failed: its tool, as `server.tool`. */
  readonly tool?: string;
}

export interface PreludeData {
  /** Each server with its global name, and its tools with their names as identifiers. */
  readonly servers: readonly {
    readonly name: string;
    readonly global: string;
    readonly tools: readonly (readonly [tool: string, identifier: string])[];
  }[];
  readonly concurrency: number;
}

/**
 * Runs inside the interpreter, before the script. Only its text gets there, so it may use nothing from outside. A
 * script can change what it finds there, such as prototypes, but harms only itself: the thread checks everything this
 * code sends.
 */
export function prelude(host: PreludeHost, json: string): PreludeControls {
  const { stringify, parse } = JSON;
  const { servers, concurrency } = parse(json) as PreludeData;

  class ToolError extends Error {
    override name = 'ToolError';
    server: string | undefined;
    tool: string | undefined;
    code: string | undefined;
  }

  interface Call {
    readonly id: number;
    readonly server: string;
    readonly tool: string;
    readonly args: string;
    readonly error: ToolError;
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: unknown) => void;
  }
  const running = new Map<number, Call>();
  const waiting: Call[] = [];
  let lastId = 0;

  const send = (): void => {
    while (running.size < concurrency) {
      const call = waiting.shift();
      if (call === undefined) return;
      running.set(call.id, call);
      try {
        host.call(call.id, call.server, call.tool, call.args);
      } catch (error) {
        running.delete(call.id);
        call.reject(error);
      }
    }
  };

  const start = (server: string, tool: string, given: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const [args = {}] = given;
      if (given.length > 1 || typeof args !== 'object' || args === null || Array.isArray(args))
        throw new TypeError(`${server}.${tool} takes one object with its arguments by name.`);
      // Created here, while the stack still contains the line of the script.
      const error = new ToolError();
      error.server = server;
      error.tool = tool;
      waiting.push({ id: ++lastId, server, tool, args: stringify(args), error, resolve, reject });
      send();
    });

  const take = (id: number): Call | undefined => {
    const call = running.get(id);
    running.delete(id);
    return call;
  };

  const namespaceOf = (server: string, tools: readonly (readonly [string, string])[]): object => {
    const byName = new Map<string, (...args: unknown[]) => Promise<unknown>>();
    for (const [tool, identifier] of tools) {
      const run = (...args: unknown[]): Promise<unknown> => start(server, tool, args);
      byName.set(identifier, run);
    }
    // A tool's own name takes precedence over a name derived from another tool.
    for (const [tool, identifier] of tools) {
      const run = byName.get(identifier);
      if (run !== undefined && tool !== identifier) byName.set(tool, run);
    }
    return lookup(byName, (key) => (key === 'then' ? undefined : host.unknownTool(server, key)));
  };

  /** Finds only what is in the map; for anything else, throws an error that says so. */
  const lookup = (
    known: ReadonlyMap<string, unknown>,
    missing: (key: string) => string | undefined,
  ): object =>
    new Proxy(Object.create(null) as object, {
      get: (_target, key) => {
        if (typeof key === 'symbol') return undefined;
        if (known.has(key)) return known.get(key);
        const problem = missing(key);
        if (problem === undefined) return undefined;
        throw new TypeError(problem);
      },
      has: (_target, key) => typeof key === 'string' && known.has(key),
      ownKeys: () => [...known.keys()],
      getOwnPropertyDescriptor: (_target, key) =>
        typeof key === 'string' && known.has(key)
          ? { value: known.get(key), enumerable: true, configurable: true }
          : undefined,
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
    });

  const timers = new Map<number, () => void>();
  let lastTimer = 0;

  const shown = (value: unknown): string => {
    try {
      const simple = replaced('', value);
      const text: unknown = typeof simple === 'string' ? simple : stringify(simple, replaced);
      return typeof text === 'string' ? text : String(value);
    } catch {
      return String(value);
    }
  };

  /** The closest JSON form of values that JSON cannot express. */
  const replaced = (_key: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'function') return `[function ${value.name}]`;
    if (value instanceof Map)
      return value.size === 0 || [...value.keys()].every((key) => typeof key === 'string')
        ? Object.fromEntries(value)
        : [...value];
    if (value instanceof Set) return [...value];
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (value instanceof Promise) return '[a promise: await it]';
    return value;
  };

  const print = (...values: unknown[]): void => host.print(values.map(shown).join(' '));

  const define = (name: string, value: unknown): void => {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  };
  const namespaces = new Map<string, object>();
  for (const { name, global, tools } of servers) {
    const namespace = namespaceOf(name, tools);
    namespaces.set(global, namespace);
    define(global, namespace);
  }
  for (const { name, global } of servers) {
    const namespace = namespaces.get(global);
    if (namespace !== undefined) namespaces.set(name, namespace);
  }
  define(
    'servers',
    lookup(
      namespaces,
      (key) => `There is no server '${key}' here. There are: ${servers.map(({ name }) => name).join(', ')}.`,
    ),
  );
  define('ToolError', ToolError);
  define('console', { log: print, info: print, warn: print, error: print, debug: print });
  define('setTimeout', (then: unknown, ms: unknown, ...args: unknown[]) => {
    if (typeof then !== 'function') throw new TypeError('setTimeout needs a function.');
    const id = ++lastTimer;
    host.startTimer(id, Number(ms) || 0);
    timers.set(id, () => void (then as (...args: unknown[]) => unknown)(...args));
    return id;
  });
  define('clearTimeout', (id: unknown) => {
    if (typeof id === 'number' && timers.delete(id)) host.stopTimer(id);
  });

  return {
    resolve: (id, text) => {
      const call = take(id);
      try {
        call?.resolve(parse(text));
      } catch (error) {
        call?.reject(error);
      }
      send();
    },
    reject: (id, message, code) => {
      const call = take(id);
      if (call !== undefined) {
        call.error.message = message;
        call.error.code = code;
        call.reject(call.error);
      }
      send();
    },
    fire: (id) => {
      const then = timers.get(id);
      timers.delete(id);
      then?.();
    },
    describe: async (given) => {
      const value = await given;
      const settled: unknown =
        Array.isArray(value) && value.some((each) => each instanceof Promise)
          ? await Promise.all(value)
          : value;
      if (typeof settled === 'function') return stringify(replaced('', settled));
      return stringify(settled, replaced);
    },
    explain: (thrown) => {
      try {
        if (!(thrown instanceof Error))
          return stringify({ name: 'Error', message: shown(thrown), stack: '' });
        // Scripts can set these to anything.
        const { name, message, stack, server, tool } = thrown as unknown as Record<string, unknown>;
        return stringify({
          name: String(name),
          message: String(message),
          stack: String(stack),
          ...(thrown instanceof ToolError ? { tool: `${String(server)}.${String(tool)}` } : {}),
        });
      } catch {
        return stringify({ name: 'Error', message: 'What was thrown cannot be shown.', stack: '' });
      }
    },
  };
}
