import type { ConsoleEvent } from '../../../console/index.ts';
import { listProjects } from './projects.ts';

/** How often Switchyard's projects are looked at, in milliseconds, where that is cheap. */
const PAUSE_MS = 2000;
/** Looking takes at most this part of the time. */
const SHARE = 0.02;

/** Tells pages how Switchyard's services are doing, while one of them wants to know. */
export class ProjectsWatcher {
  readonly #env: NodeJS.ProcessEnv;
  readonly #tell: (events: readonly ConsoleEvent[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #watching = false;
  #looking = false;
  /** Something has changed while it was looking. */
  #again = false;
  #last = '';

  constructor(env: NodeJS.ProcessEnv, tell: (events: readonly ConsoleEvent[]) => void) {
    this.#env = env;
    this.#tell = tell;
  }

  watch(wanted: boolean): void {
    if (wanted === this.#watching) return;
    this.#watching = wanted;
    this.#last = '';
    clearTimeout(this.#timer);
    if (wanted) void this.#look();
  }

  /** Something has changed. */
  lookNow(): void {
    this.#again = this.#looking;
    if (!this.#watching || this.#looking) return;
    clearTimeout(this.#timer);
    void this.#look();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const since = performance.now();
    // Records that cannot be read now are perhaps being written.
    const projects = await listProjects(this.#env).catch(() => undefined);
    this.#looking = false;
    if (!this.#watching) return;
    const text = JSON.stringify(projects);
    if (projects !== undefined && text !== this.#last) this.#tell([{ type: 'projects', projects }]);
    this.#last = text;
    const pause = this.#again ? 0 : Math.max(PAUSE_MS, (performance.now() - since) / SHARE);
    this.#again = false;
    this.#timer = setTimeout(() => void this.#look(), pause).unref();
  }
}
