import type { YardEvent } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { drawOnStderr, writeStderr } from '../kit/stderr.ts';
import { createStyle, type Style } from '../kit/style.ts';
import type { YardInvocation } from './invocation.ts';
import type { CommandOutcome } from '../kit/command.ts';
import { createLiveBlock } from '../kit/live-block.ts';
import { catchInterrupt, type Interrupt } from '../kit/signals.ts';

/** Shows progress on stderr until the outcome is printed. */
export interface ProgressDisplay {
  readonly onEvent: (event: YardEvent) => void;
  /** Call before other output is written. */
  end(): void;
}

/** Shows progress while `work` runs. */
export async function withProgress<T>(
  invocation: Pick<YardInvocation, 'json' | 'env'>,
  work: (progress: Omit<ProgressDisplay, 'end'>) => Promise<T>,
): Promise<T> {
  const progress = showProgress(invocation);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

/** The same for what Ctrl-C may end; `stopped` says on stderr what that means, if `work` ends with an error then. */
export async function withInterrupt(
  invocation: Pick<YardInvocation, 'json' | 'env'>,
  stopped: string,
  work: (progress: Omit<ProgressDisplay, 'end'>, interrupt: Interrupt) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const interrupt = catchInterrupt();
  try {
    return await withProgress(invocation, (progress) => work(progress, interrupt));
  } catch (error) {
    const exitCode = interrupt.exitCode();
    if (exitCode === undefined) throw error;
    return { exitCode, data: { ok: false, error: 'stopped' }, text: () => '', complaint: stopped };
  } finally {
    interrupt.close();
  }
}

/**
 * On a terminal: one line per service, redrawn in place and removed at the end, when the outcome says the same.
 * Elsewhere: one line per event. Nothing with --json.
 */
function showProgress({ json, env }: Pick<YardInvocation, 'json' | 'env'>): ProgressDisplay {
  if (json) return { onEvent: () => undefined, end: () => undefined };
  if (!process.stderr.isTTY || env.TERM === 'dumb') return inLines();
  return inPlace(createStyle(process.stderr, env));
}

function inLines(): ProgressDisplay {
  const rows = new Rows();
  const say = (text: string): void => writeStderr(`${printableLine(text)}\n`);
  return {
    onEvent: (event) => {
      if ('service' in event) say(rowText(rows.note(event)));
      // The outcome reports the proxy.
      else if (event.kind === 'waiting') say(event.text);
    },
    end: () => undefined,
  };
}

/** Redraw interval, in milliseconds. */
const TICK = 100;

function inPlace(style: Style): ProgressDisplay {
  const block = createLiveBlock(process.stderr, drawOnStderr);
  const rows = new Rows();
  let notice = '';
  const draw = (): void => {
    const lines = [...rows.all()].map((row) => markOf(row, style) + rowText(row, performance.now()));
    block.draw([...(notice === '' ? [] : [style.dim(printableLine(notice))]), ...lines]);
  };
  const timer = setInterval(draw, TICK);
  timer.unref();
  return {
    onEvent: (event) => {
      if ('service' in event) {
        rows.note(event);
        // The wait is over.
        notice = '';
      } else notice = event.text;
      draw();
    },
    end: () => {
      clearInterval(timer);
      block.clear();
    },
  };
}

type ServiceEvent = Extract<YardEvent, { readonly service: string }>;

/** The last event of a service. */
interface Row {
  readonly event: ServiceEvent;
  /** Includes the branch if there are several. */
  readonly name: string;
  /** When it began to start or stop, in milliseconds. */
  readonly began: number;
  /** When that ended. */
  readonly ended: number | undefined;
}

class Rows {
  readonly #rows = new Map<string, Row>();
  readonly #branches = new Set<string>();

  note(event: ServiceEvent): Row {
    const key = `${event.branch}\n${event.service}`;
    const now = performance.now();
    const begins = event.kind === 'starting' || event.kind === 'stopping';
    const began = begins ? now : (this.#rows.get(key)?.began ?? now);
    this.#branches.add(event.branch);
    const name = this.#branches.size > 1 ? `${event.service} of ${event.branch}` : event.service;
    const row = { event, name, began, ended: begins ? undefined : now };
    this.#rows.set(key, row);
    return row;
  }

  all(): Iterable<Row> {
    return this.#rows.values();
  }
}

/** For example `web ready after 340 ms`. The outcome has the rest. */
function rowText({ event, began, ended, name }: Row, now?: number): string {
  const { kind, text } = event;
  const time = ended ?? now;
  const took = time === undefined ? '' : duration(time - began);
  if (kind === 'starting' || kind === 'stopping') return `${printableLine(text)} ${took}`.trimEnd();
  return `${printableLine(name)} ${kind}${took === '0 ms' ? '' : ` after ${took}`}`;
}

function markOf({ event: { kind } }: Row, style: Style): string {
  if (kind === 'starting' || kind === 'stopping') return `${style.caution('…')} `;
  return kind === 'failed' ? `${style.bad('✗')} ` : `${style.good('✓')} `;
}

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
