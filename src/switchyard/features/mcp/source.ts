import type { Call, CloseOptions, Source, SourceInfo, SourceState } from '../../../gateway/index.ts';
import { MODERN_VERSION, SERVER_SHAPE, type JsonObject } from '../../../protocol/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import type { Logger } from '../../../shared/log.ts';
import { VERSION } from '../../../shared/version.ts';
import { editedText, Message, RpcCode, type Edit } from '../../../wire/index.ts';
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
  const running = new Map<Call, AbortController>();
  let closed = false;
  let handler: YardRequestHandler | undefined;
  let loading: Promise<YardRequestHandler> | undefined;
  let onIdle: (() => void) | undefined;

  const load = (): Promise<YardRequestHandler> => {
    loading ??= import('./request-handler.ts').then(
      (module) => (handler = new module.YardRequestHandler(project, env)),
    );
    return loading;
  };

  const run = async (call: Call, edits: readonly Edit[], signal: AbortSignal): Promise<void> => {
    const { reportProgress } = await import('./progress.ts');
    const progress = reportProgress(call);
    try {
      const { method, params } = JSON.parse(editedText(call.request, edits)) as {
        method: string;
        params?: unknown;
      };
      const result = await (
        await load()
      ).handle(method, isObject(params) ? params : {}, { signal, onEvent: progress.onEvent });
      call.relay(answerWith({ result }));
    } catch (error) {
      call.fail(asError(error, call));
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
      const controller = new AbortController();
      call.runBy({ cancelled: () => controller.abort() });
      running.set(call, controller);
      void run(call, edits, controller.signal).finally(() => {
        running.delete(call);
        if (running.size === 0) onIdle?.();
      });
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
      if (running.size > 0 && drainMs > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, drainMs);
          onIdle = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      for (const [call, controller] of running) {
        log.debug('gave up a call', { server: name, method: call.method });
        call.fail(new SwitchboardError('SERVER_STOPPED', `${call.subject()} was not finished: ${reason}`));
        // The work continues, but its result is no longer awaited.
        controller.abort();
      }
    },
  };
  return source;
}

function answerWith(answer: { readonly result: JsonObject } | { readonly error: JsonObject }): Message {
  return Message.from({ jsonrpc: '2.0', id: 0, ...answer }, SERVER_SHAPE);
}

function asError(error: unknown, call: Call): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError('INTERNAL', `${call.subject()} failed: ${messageOf(error)}`, { cause: error });
}
