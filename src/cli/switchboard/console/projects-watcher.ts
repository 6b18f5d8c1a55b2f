import type { ConsoleEvent } from '../../../console/index.ts';
import { listProjects } from './projects.ts';

/** How often Switchyard's projects are checked, in milliseconds, if that is cheap. */
const PAUSE_MS = 2000;
/** The largest share of time that checking may take. */
const SHARE = 0.02;

/** Reports the state of Switchyard's services to pages, while one of them shows it. */
export class ProjectsWatcher {
  readonly #env: NodeJS.ProcessEnv;
  readonly #tell: (events: readonly ConsoleEvent[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #watching = false;
  #looking = false;
  /** Whether something has changed during a check. */
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

  /** Call this when something has changed. */
  lookNow(): void {
    this.#again = this.#looking;
    if (!this.#watching || this.#looking) return;
    clearTimeout(this.#timer);
    void this.#look();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const since = performance.now();
    // Records that cannot be read may be in the middle of being written.
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
