import { dropOldest, type Call, type Session } from '../../gateway/index.ts';
import { isObject } from '../../shared/is-object.ts';
import { Client, Server } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import type { ProgressThrottle } from './pending-call.ts';

/** How long a task is assumed to be running if it does not say, in milliseconds. */
const TASK_MS = 600_000;
const LONGEST_TASK_MS = 86_400_000;
/** How many tasks have their progress forwarded; the oldest are forgotten first. */
const MOST_TASKS = 1000;
/** How long a cancelled call may continue, in milliseconds: not every server stops when asked to. */
const LINGER_MS = 60_000;

/** What a server may be working on without a pending call: tasks, and cancelled calls. */
export class BackgroundWork {
  /** By our progress token. */
  readonly #tasks = new Map<number, Task>();
  /**
   * Clients that cancelled a call, and until when that call may still be running, on the performance clock. Only the
   * last two are kept: that is enough to know whether there is one such client or several. A client without a session
   * is a new one with every call, and holds the bytes of that call.
   */
  readonly #cancelled = new Map<Session, number>();

  addTask(token: number, task: Task): void {
    this.#tasks.set(token, task);
    dropOldest(this.#tasks, MOST_TASKS);
  }

  task(token: number): Task | undefined {
    return this.#tasks.get(token);
  }

  /** Whether a task may still be running. */
  get hasTasks(): boolean {
    const now = Date.now();
    for (const [token, task] of this.#tasks) if (task.until <= now) this.#tasks.delete(token);
    return this.#tasks.size > 0;
  }

  cancelled(session: Session): void {
    this.#cancelled.delete(session);
    this.#cancelled.set(session, performance.now() + LINGER_MS);
    dropOldest(this.#cancelled, 2);
  }

  /** The clients that some of it may be for; at least two of them if there are several. */
  sessions(): Session[] {
    const now = performance.now();
    for (const [session, until] of this.#cancelled) if (until < now) this.#cancelled.delete(session);
    const tasks = this.hasTasks ? [...this.#tasks.values()] : [];
    return [...this.#cancelled.keys(), ...tasks.map((task) => task.session)];
  }
}

/**
 * A task that a call was answered with. It continues to report progress to that call's client, under that call's token;
 * nothing else of the call is kept.
 */
export class Task {
  /** When it ends at the latest, on the clock of Date.now. */
  readonly until: number;
  /** The session that the task belongs to. */
  readonly session: Session;
  readonly #token: string | undefined;
  readonly #throttle: ProgressThrottle | undefined;

  constructor({ request, session }: Call, answer: Message, throttle: ProgressThrottle | undefined) {
    const task = answer.value(Server.task);
    const ttl = isObject(task) && typeof task.ttl === 'number' && task.ttl > 0 ? task.ttl : TASK_MS;
    this.until = Date.now() + Math.min(ttl, LONGEST_TASK_MS);
    this.session = session;
    this.#token = request.text(Client.progressToken);
    this.#throttle = throttle;
  }

  progress(notification: Message): void {
    if (this.#token === undefined || this.#throttle?.admits(notification, performance.now()) !== true) return;
    const start = notification.start(Server.progressToken);
    const end = notification.end(Server.progressToken);
    this.session.client.forwardNotification(notification, [{ start, end, with: this.#token }]);
  }
}
