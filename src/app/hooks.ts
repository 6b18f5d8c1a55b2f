import { isDeepStrictEqual } from 'node:util';
import type { HookModule, LoadedConfig } from '../config/index.ts';
import type { CallHooks } from '../hooks/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';

export interface HooksOptions {
  readonly config: () => Pick<LoadedConfig, 'hooks' | 'settings'>;
  /** Called with each line that a hook prints. */
  readonly print: (line: string) => void;
  readonly log: Logger;
}

interface OpenHooks {
  readonly modules: readonly HookModule[];
  readonly loaded: Promise<CallHooks>;
  readonly handle: CallHooks['handle'];
}

/** The hooks of the current configuration. The code that runs them is loaded with the first call they handle. */
export class Hooks {
  readonly #options: HooksOptions;
  #open: OpenHooks | undefined;

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** The function that handles calls; undefined if there are no hooks. */
  current(): CallHooks['handle'] | undefined {
    const { hooks } = this.#options.config();
    if (hooks === undefined && this.#open === undefined) return undefined;
    if (!isDeepStrictEqual(hooks, this.#open?.modules)) {
      this.#end(this.#open);
      this.#open = hooks && this.#load(hooks);
    }
    return this.#open?.handle;
  }

  close(): void {
    this.#end(this.#open);
    this.#open = undefined;
  }

  #load(modules: readonly HookModule[]): OpenHooks {
    const { print, log, config } = this.#options;
    const { hookMs: timeoutMs } = config().settings.timeouts;
    const loaded = import('../hooks/index.ts').then(
      ({ CallHooks: Runner }) =>
        new Runner({ modules, timeoutMs, print: (line) => print(`[hooks] ${line}`) }),
    );
    return {
      modules,
      loaded,
      handle: (edits, call, source, pass) => {
        loaded.then(
          (runner) => runner.handle(edits, call, source, pass),
          (cause: unknown) => {
            log.error('could not load what runs hooks', { reason: messageOf(cause) });
            call.fail(new SwitchboardError('HOOK_FAILED', 'The hooks could not be loaded.', { cause }));
          },
        );
      },
    };
  }

  #end(open: OpenHooks | undefined): void {
    void open?.loaded.then((runner) => runner.close()).catch(() => undefined);
  }
}
