import type { Call, Session } from '../../gateway/index.ts';
import { Client, Server } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import type { ProgressThrottle } from './progress.ts';

/** How long a task is taken to be at work where it does not say, in milliseconds. */
const TASK_MS = 600_000;
const LONGEST_TASK_MS = 86_400_000;

/**
 * A task that a call was answered with. It goes on reporting progress, to the client and under the token of that call;
 * of the call itself nothing else is kept.
 */
export class Task {
  /** When it is over at the latest, on the clock of Date.now. */
  readonly until: number;
  /** Whose it is. */
  readonly session: Session;
  readonly #token: string | undefined;
  readonly #gate: ProgressThrottle | undefined;

  constructor({ request, session }: Call, answer: Message, gate: ProgressThrottle | undefined) {
    const task = (answer.value(Server.result) as { task?: { ttl?: unknown } }).task;
    const ttl = typeof task?.ttl === 'number' && task.ttl > 0 ? task.ttl : TASK_MS;
    this.until = Date.now() + Math.min(ttl, LONGEST_TASK_MS);
    this.session = session;
    this.#token = request.text(Client.progressToken);
    this.#gate = gate;
  }

  progress(notification: Message): void {
    if (this.#token === undefined || this.#gate?.admits(notification, performance.now()) !== true) return;
    const start = notification.start(Server.progressToken);
    const end = notification.end(Server.progressToken);
    this.session.client.forwardNotification(notification, [{ start, end, with: this.#token }]);
  }
}

/** Tasks whose progress is passed on; the oldest are forgotten first. */
const MOST = 1000;

/** The tasks that one server works on, by our progress token for them. */
export class Tasks {
  readonly #byToken = new Map<number, Task>();

  add(token: number, task: Task): void {
    this.#byToken.set(token, task);
    if (this.#byToken.size > MOST) this.#byToken.delete(this.#byToken.keys().next().value!);
  }

  get(token: number): Task | undefined {
    return this.#byToken.get(token);
  }

  /** Whether one of them may still be at work. */
  get working(): boolean {
    const now = Date.now();
    for (const [token, task] of this.#byToken) if (task.until <= now) this.#byToken.delete(token);
    return this.#byToken.size > 0;
  }

  /** The clients for whom one may still be at work. */
  sessions(): Set<Session> {
    return this.working ? new Set([...this.#byToken.values()].map((task) => task.session)) : new Set();
  }

  clear(): void {
    this.#byToken.clear();
  }
}
