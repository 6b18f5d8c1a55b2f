import {
  RunningCalls,
  type Call,
  type CloseOptions,
  type Source,
  type SourceInfo,
  type SourceState,
} from '../../../gateway/index.ts';
import { MODERN_VERSION, SERVER_SHAPE, type JsonObject } from '../../../protocol/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import type { Logger } from '../../../shared/log.ts';
import { VERSION } from '../../../shared/version.ts';
import { Message, RpcCode } from '../../../wire/index.ts';
import { INSTRUCTIONS } from './instructions.ts';
import type { ProjectSelector } from './project-binding.ts';
import type { YardRequestHandler } from './request-handler.ts';

export interface YardSourceOptions {
  /** Its name in the catalog. */
  readonly name: string;
  /** The project it serves. */
  readonly project: ProjectSelector;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

/** How Switchyard identifies itself. */
export const YARD_SOURCE_INFO: SourceInfo = {
  protocolVersion: MODERN_VERSION,
  serverInfo: { name: 'switchyard', title: 'Switchyard', version: VERSION },
  capabilities: { tools: {}, resources: {}, prompts: {} },
  instructions: INSTRUCTIONS,
};

/**
 * The runtime of one project as a source. No process is behind it, so there is nothing to start or to lose. The gateway
 * waits for its own start, so code is loaded with the first request.
 */
export function createYardSource({ name, project, env, log }: YardSourceOptions): Source {
  const since = Date.now();
  const running = new RunningCalls();
  let closed = false;
  let handler: YardRequestHandler | undefined;
  let loading: Promise<YardRequestHandler> | undefined;

  const load = (): Promise<YardRequestHandler> => {
    loading ??= import('./request-handler.ts').then(
      (module) => (handler = new module.YardRequestHandler(project, env)),
    );
    return loading;
  };

  const answer = async (call: Call, method: string, params: unknown, signal: AbortSignal) => {
    const { reportProgress } = await import('./progress.ts');
    const progress = reportProgress(call);
    try {
      const loaded = await load();
      return await loaded.handle(method, isObject(params) ? params : {}, {
        signal,
        onEvent: progress.onEvent,
      });
    } finally {
      progress.end();
    }
  };

  const source: Source = {
    name,
    get state(): SourceState {
      return closed ? { kind: 'stopped' } : { kind: 'running', pid: undefined, since };
    },
    about: () => YARD_SOURCE_INFO,
    list: async (kind) => (await load()).listing(kind),
    known: (kind) => handler?.listing(kind),
    remembered: (kind) => handler?.listing(kind),
    request: (edits, call) => {
      if (closed) {
        call.fail(new SwitchboardError('SERVER_STOPPED', `${call.subject()} was not run: it is stopped.`));
        return;
      }
      running.run(call, edits, ({ method, params }, signal) => answer(call, method, params, signal));
    },
    start: () => Promise.resolve(),
    // Only declared methods are requested.
    ask: (method) =>
      Promise.resolve(
        answerWith({ error: { code: RpcCode.methodNotFound, message: `Method not found: ${method}` } }),
      ),
    notify: () => undefined,
    listen: () => undefined,
    setIdleTimeout: () => undefined,
    fail: () => Promise.resolve(),
    close: async ({ reason = 'Switchboard is stopping.', drainMs = 0 }: CloseOptions = {}) => {
      closed = true;
      await running.close(reason, drainMs, (call) => {
        // The work continues, but its result is no longer awaited.
        log.debug('gave up a call', { server: name, method: call.method });
        return new SwitchboardError('SERVER_STOPPED', `${call.subject()} was not finished: ${reason}`);
      });
    },
  };
  return source;
}

function answerWith(answer: { readonly result: JsonObject } | { readonly error: JsonObject }): Message {
  return Message.from({ jsonrpc: '2.0', id: 0, ...answer }, SERVER_SHAPE);
}
