/**
 * The methods that both eras have, and their answers without what only one era adds.
 *
 * A `call` is what the era and the transport give to whatever runs:
 *   serverState, era, signal     shared state; 'legacy' or 'modern'; aborted when the client cancels
 *   ask(requests, { withState }) put questions to the client: { key: { method, params } } → { key: result }
 *   can(method), need(name)      whether the client can answer such a question; refuse when it lacks a capability
 *   log, progress, progressToken tell the client something on the way
 *   dropStream                   only over HTTP in the legacy era
 */
import { messagesOf, read } from './offer.mjs';

/** Becomes a JSON-RPC error. Anything else that a tool throws becomes an `isError` result. */
export class RpcError extends Error {
  constructor(code, message, data, status) {
    super(message);
    this.code = code;
    this.data = data;
    /** The status over HTTP in the modern era; undefined: 200. */
    this.status = status;
  }

  toJSON() {
    return { code: this.code, message: this.message, data: this.data };
  }
}

/** Thrown by `call.ask` in the modern era: the call is to be repeated with the answers. */
export class InputRequired extends Error {
  constructor(inputRequests, requestState) {
    super('Input required');
    this.result = { resultType: 'input_required', inputRequests, requestState };
  }
}

/** What a modern server answers to a client that lacks a capability. */
export function lacking(requiredCapabilities) {
  return new RpcError(-32021, 'The client lacks a capability that this needs', { requiredCapabilities }, 400);
}

/** Which capability of a client a question needs. */
export const CAPABILITY_FOR = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const METHODS = {
  'tools/list': ({ serverState, era }) => ({
    tools: Object.entries(serverState.tools(era)).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: inputSchema ?? { type: 'object', properties: {} },
    })),
  }),
  'tools/call': (call, params) => {
    const tool = own(call.serverState.tools(call.era), params.name);
    if (tool === undefined) throw new RpcError(-32602, `Unknown tool: ${params.name}`);
    return call.runTool ? call.runTool(tool, params) : runTool(tool, params.arguments ?? {}, call);
  },
  'prompts/list': ({ serverState }) => ({
    prompts: Object.entries(serverState.prompts()).map(([name, { description, arguments: list }]) => ({
      name,
      description,
      ...(list && { arguments: list }),
    })),
  }),
  'prompts/get': async (call, params) => {
    const prompt = own(call.serverState.prompts(), params.name);
    if (prompt === undefined) throw new RpcError(-32602, `Unknown prompt: ${params.name}`);
    const given = params.arguments ?? {};
    const missing = (prompt.arguments ?? []).find(({ name }) => given[name] === undefined);
    if (missing !== undefined) throw new RpcError(-32602, `Missing argument: ${missing.name}`);
    return { description: prompt.description, messages: messagesOf(await prompt.get(given, call)) };
  },
  'resources/list': ({ serverState }) => ({
    resources: Object.entries(serverState.resources()).map(([uri, { name, description, mimeType }]) => ({
      uri,
      name,
      description,
      mimeType,
    })),
  }),
  'resources/templates/list': ({ serverState }) => ({ resourceTemplates: serverState.templates() }),
  'resources/read': ({ era }, { uri }) => {
    const contents = read(uri);
    // The code has changed between the eras.
    if (contents === undefined)
      throw new RpcError(era === 'modern' ? -32602 : -32002, 'Resource not found', { uri });
    return { contents };
  },
  'completion/complete': (call, { argument }) => {
    const values = ['paris', 'park', 'party'].filter((value) => value.startsWith(argument?.value ?? ''));
    return { completion: { values, total: values.length, hasMore: false } };
  },
};

/** The answer to a request both eras know, or undefined when they do not know it. */
export function answer(method, params, call) {
  return own(METHODS, method)?.(call, params);
}

export async function runTool(tool, args, call, before) {
  try {
    const given = await tool.run(args, call, before);
    if (typeof given === 'string') return { content: [{ type: 'text', text: given }] };
    return Array.isArray(given) ? { content: given } : given;
  } catch (error) {
    if (error instanceof RpcError || error instanceof InputRequired) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** What a running call tells its client: the same in both eras but for where the level comes from. */
export function telling(send, params, level) {
  const progressToken = params?._meta?.progressToken;
  return {
    progressToken,
    progress: (progress, total) => {
      if (progressToken === undefined) return;
      send({ method: 'notifications/progress', params: { progressToken, progress, total } });
    },
    log: (of, data) => {
      const least = level();
      if (least === undefined || LEVELS.indexOf(of) < LEVELS.indexOf(least)) return;
      send({ method: 'notifications/message', params: { level: of, logger: 'conformance', data } });
    },
  };
}

export function own(table, key) {
  return typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;
}
