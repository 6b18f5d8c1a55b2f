import { quoted } from '../../shared/printable.ts';
import { captureOutput, type ChildEnd } from '../../process/index.ts';
import { SERVER_SHAPE } from '../../protocol/index.ts';
import { StreamTransport, type OutputFraming } from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import type { ProcessTarget } from '../server.ts';
import type { Transport, TransportEnd, TransportEvents } from '../transport.ts';

/** How long after its pipes close a process may take to exit, in milliseconds. */
const EXIT_DELAY_MS = 50;

/** For a process that gets no time to exit by itself. */
const AT_ONCE = { term: 0, kill: 2000 };

export interface TransportOptions {
  readonly setup: ServerSetup;
  readonly framing: OutputFraming;
  readonly mask: (text: string) => string;
}

/** Starts a process and carries messages over its stdin and stdout. `mask` hides secrets. */
export function openProcessTransport(
  target: ProcessTarget,
  { setup, framing, mask }: TransportOptions,
  events: TransportEvents,
): Transport {
  const { name: server, limits } = setup.server;
  const { log, stderr } = setup.context;
  const { command, args, cwd, env, shown } = target;
  const child = setup.children.spawn({ name: server, command, args, cwd, env: env(), shown });
  const output = captureOutput(child.stderr, {
    name: server,
    sink: (line) => stderr(mask(line)),
  });
  let over = false;

  const end = (how: TransportEnd): void => {
    if (over) return;
    over = true;
    events.ended(how);
    // Also ends the processes that it left behind. Its stdin is already closed.
    child.stop(AT_ONCE).catch((reason: unknown) => {
      log.error('could not clean up', { server, reason: String(reason) });
    });
  };
  const lastWords = (): string => errorIn(output.tail().map((line) => mask(line)));
  const exited = (exit: ChildEnd): void => {
    if (exit.kind === 'failed') {
      end(exit);
      return;
    }
    log.info('exited', {
      server,
      pid: child.pid,
      code: exit.code ?? undefined,
      signal: exit.signal ?? undefined,
      asked: over || undefined,
      said: over ? undefined : lastWords() || undefined,
    });
    // The last responses have been read: an exit is reported when the pipes are closed, or after a while if a
    // descendant keeps them open.
    const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
    messages.whenRead(() => end({ kind: 'lost', how }));
  };
  /** A closed pipe usually means that the process has exited, which is about to be reported and explains more. */
  const loseUnlessExited = (how: string): void => {
    setTimeout(() => {
      if (child.state.kind === 'running') end({ kind: 'lost', how });
    }, EXIT_DELAY_MS);
  };

  const messages = new StreamTransport(child.stdout, child.stdin, {
    shape: SERVER_SHAPE,
    framing,
    inputFraming: target.framing === 'auto' ? undefined : target.framing,
    replyInKind: false,
    messageBytes: limits.messageBytes,
    takesCopies: true,
  });
  child.onExit(exited);
  // Otherwise noticed only when the next write fails.
  child.stdin.once('close', () => loseUnlessExited('closed its stdin'));
  if (child.pid !== undefined) log.info('spawned', { server, pid: child.pid });

  return {
    messages,
    pid: child.pid,
    get open() {
      // A process that has exited accepts no more calls, even while its output is still being read.
      return child.state.kind === 'running';
    },
    watch: (looked) => {
      const signs = child.watch(looked);
      return () => signs.stop();
    },
    lastWords,
    inputEnded: () => loseUnlessExited('closed its stdout'),
    async stop(atOnce = false) {
      over = true;
      const report = await child.stop(atOnce ? AT_ONCE : undefined);
      if (report.kind !== 'left') return;
      const pids = report.survivors.map((survivor) => survivor.pid).join(',');
      log.error('processes did not exit', { server, pids });
    },
  };
}

/** The error in the last lines of stderr, as a sentence. */
function errorIn(written: readonly string[]): string {
  const lines = written.filter((line) => line.trim() !== '');
  // A stack trace ends in frames and braces; the line that names the error precedes them.
  const named = lines.findIndex((line) => /error|exception|cannot|not found|fatal|panic|denied/i.test(line));
  const shown = (named < 0 ? lines.slice(-5) : lines.slice(named, named + 3)).join(' | ');
  return shown === '' ? '' : `It wrote: ${quoted(shown, 600)}.`;
}
