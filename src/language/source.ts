import type { RemoteDefinition, StdioDefinition } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Source, SourceInfo, SourceState, ToolRules } from '../gateway/index.ts';
import { MODERN_VERSION } from '../protocol/index.ts';
import type { Conversations } from './conversations.ts';

export interface LanguageSourceOptions {
  /** The server itself. */
  readonly inner: Source;
  readonly server: LanguageServer;
  /** Which of the server's tools the model may use, and in which form. */
  readonly rules: ToolRules;
  /** The environment that contains the keys of models. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

/** A server behind a language model. */
export type LanguageServer = (StdioDefinition | RemoteDefinition) & {
  readonly language: NonNullable<StdioDefinition['language']>;
};

export interface LanguageSource extends Source {
  /** The server itself. */
  readonly inner: Source;
}

/**
 * A server with a language model in front of it: its only tool accepts natural language; everything else is the
 * server's own. The tool is available before the server is running, which starts with the first request. A gateway
 * waits for its own start, so the code for conversations is loaded with the first one.
 */
export function languageSource(options: LanguageSourceOptions): LanguageSource {
  const { inner } = options;
  let closed = false;
  let talks: Conversations | undefined;
  let loading: Promise<Conversations> | undefined;
  let shown: { readonly said: SourceInfo | undefined; readonly about: SourceInfo } | undefined;

  const load = (): Promise<Conversations> => {
    loading ??= import('./conversations.ts').then((module) => (talks = new module.Conversations(options)));
    return loading;
  };

  const source: LanguageSource = {
    inner,
    listsToolsUnstarted: true,
    name: inner.name,
    get state() {
      return closed ? STOPPED : inner.state;
    },
    get problem() {
      return inner.problem;
    },
    about: () => {
      const said = inner.about();
      if (shown === undefined || shown.said !== said) shown = { said, about: shownOf(said, inner.name) };
      return shown.about;
    },
    list: async (kind) => (kind === 'tools' ? (await load()).listing : inner.list(kind)),
    known: (kind) => (kind === 'tools' ? talks?.listing : inner.known(kind)),
    remembered: (kind) => (kind === 'tools' ? talks?.listing : inner.remembered(kind)),
    request: (edits, call) => {
      if (call.method !== 'tools/call') inner.request(edits, call);
      else if (talks) talks.begin(edits, call);
      else {
        load().then(
          (loaded) => loaded.begin(edits, call),
          (cause: unknown) =>
            call.fail(new SwitchboardError('INTERNAL', `${call.subject()} could not be run.`, { cause })),
        );
      }
    },
    start: () => inner.start(),
    ask: (method, params) => inner.ask(method, params),
    notify: (notification) => inner.notify(notification),
    listen: (listener) =>
      inner.listen({
        started: () => listener.started(),
        failed: () => listener.failed(),
        stopped: () => listener.stopped(),
        changed: (kind) => {
          // No client lists the server's own tools.
          if (kind !== 'tools') listener.changed(kind);
        },
        notified: (notification, callers) =>
          listener.notified(notification, () => talks?.outerOf(callers()) ?? callers()),
        requested: (question) => listener.requested(talks?.passedOn(question) ?? question),
        inUse: () => talks?.busy === true || listener.inUse(),
      }),
    setIdleTimeout: (idleMs) => inner.setIdleTimeout(idleMs),
    stop: async () => inner.stop?.(),
    fail: (error) => inner.fail(error),
    close: async (ending) => {
      closed = true;
      const left = await (await loading)?.close(ending);
      await inner.close(left ?? ending);
    },
  };
  return source;
}

const STOPPED: SourceState = { kind: 'stopped' };

/** What its clients may know about it. Its own instructions are about tools that only the model sees. */
function shownOf(said: SourceInfo | undefined, name: string): SourceInfo {
  if (said) return { ...said, capabilities: { ...said.capabilities, tools: {} }, instructions: undefined };
  // It has never run, so it may have anything.
  return {
    protocolVersion: MODERN_VERSION,
    serverInfo: { name },
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: undefined,
  };
}
