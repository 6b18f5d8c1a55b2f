import { setTimeout as pause } from 'node:timers/promises';
import { scopeBranch, status, type YardContext } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { createStyle, type Style } from '../../kit/style.ts';
import { catchInterrupt } from '../../kit/signals.ts';
import { createLiveBlock } from '../../kit/live-block.ts';
import { statusLines } from './status-view.ts';

/** Shows the services repeatedly, with the last error of each below. Returns the exit code. */
export function watchStatus(yard: YardContext, branch: string | undefined): Promise<number> {
  const scope = scopeBranch(yard, branch) ?? 'all branches';
  return watch({
    env: yard.env,
    look: async (style) => {
      const found = await status(yard, { branch });
      const errors = found.services.flatMap(({ service, branch: of, recent_errors: lines }) =>
        lines.slice(-1).map((line) => `${service} (${of}): ${line}`),
      );
      const now = new Date().toTimeString().slice(0, 8);
      const title = `${yard.config.name}, ${scope}, ${now}; q quits`;
      return [
        style.dim(printableLine(title)),
        ...statusLines(found, style),
        ...(errors.length === 0 ? [] : ['', 'last errors:', ...errors.map(printableLine)]),
      ];
    },
  });
}

interface WatchOptions {
  /** The lines to show now. An error ends the watch. */
  readonly look: (style: Style) => Promise<readonly string[]>;
  /** Refresh interval, in milliseconds. Default 1000. */
  readonly every?: number;
  readonly env: NodeJS.ProcessEnv;
}

/** Redraws a view in place until `q` or Ctrl-C. The last view stays. Returns the exit code. */
async function watch({ look, every = 1000, env }: WatchOptions): Promise<number> {
  const { stdin, stdout } = process;
  if (!stdout.isTTY || env.TERM === 'dumb')
    throw usage(
      '--watch needs a terminal, but stdout is not one.',
      'Leave out --watch to print the status once, or run `watch switchyard status`.',
    );
  const style = createStyle(stdout, env);
  const interrupt = catchInterrupt();
  const done = new AbortController();
  const end = (): void => done.abort();
  interrupt.signal.addEventListener('abort', end);
  stdout.on('error', end);
  const block = createLiveBlock(stdout, (text) => stdout.write(text));
  let lines: readonly string[] = [];
  const draw = (): void => block.draw(lines);
  const keys = listenForKeys(end);
  stdout.on('resize', draw);
  process.on('SIGCONT', draw);
  stdout.write(HIDE_CURSOR);
  try {
    while (!done.signal.aborted) {
      lines = await look(style);
      draw();
      // The end of the watch is no error.
      await pause(every, undefined, { signal: done.signal }).catch(() => undefined);
    }
  } finally {
    stdout.write(`${lines.length > 0 ? '\n' : ''}${SHOW_CURSOR}`);
    keys.close();
    stdin.pause();
    stdout.off('resize', draw);
    process.off('SIGCONT', draw);
    interrupt.close();
  }
  return interrupt.exitCode() ?? 0;
}

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';

/** In raw mode, Ctrl-C and Ctrl-D are ordinary keys. */
const END_KEYS = ['q', 'Q', '\x03', '\x04'];

/** If stdin is not a terminal, only a signal ends it. */
function listenForKeys(end: () => void): { close(): void } {
  const { stdin } = process;
  if (!stdin.isTTY) return { close: () => undefined };
  const press = (data: Buffer): void => {
    if (END_KEYS.some((key) => data.includes(key))) end();
  };
  stdin.setRawMode(true);
  stdin.on('data', press);
  return {
    close: () => {
      stdin.off('data', press);
      stdin.setRawMode(false);
    },
  };
}
