import { usage } from '../arguments.ts';
import { createStyle, type Style } from '../style.ts';
import { catchInterrupt } from './interrupt.ts';
import { createLiveBlock } from './live-block.ts';

export interface WatchOptions {
  /** The lines to show now. An error ends the watch. */
  readonly look: (style: Style) => Promise<readonly string[]>;
  /** Refresh interval, in milliseconds. Default 1000. */
  readonly every?: number;
  readonly env: NodeJS.ProcessEnv;
}

/** Redraws a view in place until `q` or Ctrl-C. The last view stays. Returns the exit code. */
export async function watch({ look, every = 1000, env }: WatchOptions): Promise<number> {
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
      await pause(every, done.signal);
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

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
  });
}
