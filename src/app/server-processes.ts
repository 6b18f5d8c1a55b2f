import type { Source } from '../gateway/index.ts';
import { SwitchboardError } from '../shared/errors.ts';

/** Counts the processes of each server across all clients. */
export class ServerProcesses {
  readonly #sources = new Map<string, Set<Source>>();

  /** Counts the process of a source until the source is closed. */
  add(source: Source): Source {
    const { name } = source;
    const all = this.#sources.get(name) ?? new Set();
    this.#sources.set(name, all.add(source));
    const close = source.close.bind(source);
    source.close = (options) =>
      close(options).finally(() => {
        all.delete(source);
        if (all.size === 0 && this.#sources.get(name) === all) this.#sources.delete(name);
      });
    return source;
  }

  /** Why no further process of a server may start; undefined if one may. */
  refusal(name: string, most: number | undefined): SwitchboardError | undefined {
    if (most === undefined) return undefined;
    const running = [...(this.#sources.get(name) ?? [])].filter(hasProcess).length;
    if (running < most) return undefined;
    return new SwitchboardError(
      'TOO_MANY_PROCESSES',
      `Cannot start another process of server '${name}': ${running} are already running.`,
      {
        hint: 'Try again when other clients are done, set "isolation": "shared", or raise its "maxProcesses".',
      },
    );
  }
}

/** A source that waits for its start slot has no process yet. */
function hasProcess({ state }: Source): boolean {
  return state.kind === 'running' || (state.kind === 'starting' && Number.isFinite(state.admittedAt));
}
