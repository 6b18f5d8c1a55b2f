import { SwitchboardError } from '../shared/errors.ts';
import type { Deadlines } from '../shared/deadline.ts';
import type { Logger } from '../shared/log.ts';
import { secretMask } from '../shared/secrets.ts';
import type { Listing, Question, SourceInfo } from '../gateway/index.ts';
import { captureOutput, type Child, type ChildEnd, type Family, type Output } from '../process/index.ts';
import { SERVER_SHAPE, type Kind } from '../protocol/index.ts';
import { Peer, type Framing, type Message } from '../wire/index.ts';
import { shakeHands, type Greeting } from './handshake.ts';
import { NoiseMeter } from './noise.ts';
import { Questions } from './questions.ts';
import type { StdioServer } from './server.ts';

export interface IncarnationEvents {
  request(message: Message): void;
  notification(message: Message): void;
  /** It wants something of a client. */
  asked(question: Question): void;
  /** It is over, and not because it was asked to be. Told once. */
  lost(error: SwitchboardError): void;
}

export interface Surroundings {
  readonly family: Family;
  readonly log: Logger;
  /** What to do about a server that does not start, as a sentence. */
  readonly startHint: string;
  /** How we greet a server; asked for when it starts. */
  readonly greeting: () => Greeting;
  /** Takes each line a server writes to stderr, already prefixed and safe to print. */
  readonly stderr: (line: string) => void;
  /** What a server said of itself in an earlier run of this program. */
  readonly recall: (server: StdioServer) => SourceInfo | undefined;
  readonly remember: (server: StdioServer, info: SourceInfo) => void;
  /** The state of a server is another one now. */
  readonly stateChanged: (server: string) => void;
  /** A server has listed what it offers. */
  readonly listed: (server: string, kind: Kind, listing: Listing) => void;
}

/** How long after its pipes the exit of a process may be seen, in milliseconds. */
const EXIT_NEWS = 50;

/** One life of a server: a process and the conversation with it. A new start is a new one. */
export class Incarnation {
  readonly peer: Peer;
  readonly child: Child;
  /** Its requests to a client that are not answered yet. */
  readonly questions: Questions;
  readonly #server: StdioServer;
  readonly #surroundings: Surroundings;
  readonly #events: IncarnationEvents;
  readonly #output: Output;
  readonly #mask: (text: string) => string;
  readonly #noise: NoiseMeter;
  #greeted = false;
  #over = false;

  constructor(
    server: StdioServer,
    framing: Framing,
    surroundings: Surroundings,
    deadlines: Deadlines,
    events: IncarnationEvents,
  ) {
    const { name, command, args, cwd, env } = server;
    const { family, log } = surroundings;
    this.#server = server;
    this.#surroundings = surroundings;
    this.#events = events;
    const child = family.spawn({ name, command, args, cwd, env: env(), shown: server.shown });
    this.child = child;
    this.#mask = secretMask(server.secrets?.() ?? []);
    this.#output = captureOutput(child.stderr, {
      name,
      sink: (line) => surroundings.stderr(this.#mask(line)),
    });
    const noise = new NoiseMeter(name, log);
    this.#noise = noise;
    this.peer = new Peer(
      child.stdout,
      child.stdin,
      {
        request: (message) => events.request(message),
        notification: (message) => events.notification(message),
        refused: (refusal, _id, bytes) => {
          // One answer over the limit fails its call; it is no flood.
          if (refusal === 'too-large')
            log.warn('dropped a message over the limit', { server: name, bytes: bytes.length });
          else if (noise.hear(refusal, bytes))
            this.#lose('writes too much to stdout that is no protocol message');
        },
        dropped: (why) => log.debug('dropped a message', { server: name, why }),
        ended: (why) => this.#stdoutEnded(why),
      },
      {
        shape: SERVER_SHAPE,
        framing,
        replyInKind: false,
        takesCopies: true,
        messageBytes: server.limits.messageBytes,
      },
    );
    this.questions = new Questions({
      server: name,
      peer: this.peer,
      deadlines,
      patience: server.timeouts.callMaxMs,
      log,
      asked: (question) => events.asked(question),
    });
    child.onExit((end) => this.#exited(end));
    // Seen when the next write fails.
    child.stdin.once('close', () => this.#loseUnlessExited('closed its stdin'));
    if (child.pid !== undefined) log.info('spawned', { server: name, pid: child.pid });
  }

  /** Resolves with what the server says of itself; rejects when it fails or stays silent for so many milliseconds. */
  async greet(patience: number): Promise<SourceInfo> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StartTimeout(this.#server.name, patience, this.lastWords())),
        patience,
      );
    });
    try {
      const info = await Promise.race([
        shakeHands(this.peer, this.#server.name, this.#surroundings.greeting()),
        timeout,
      ]);
      this.#greeted = true;
      return info;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends it on our own account; nobody is told that it was lost. */
  async stop(): Promise<void> {
    this.#over = true;
    this.questions.withdrawAll('The server was stopped.');
    this.peer.close();
    const report = await this.child.stop();
    if (report.kind === 'left') {
      const pids = report.survivors.map((survivor) => survivor.pid).join(',');
      this.#surroundings.log.error('processes would not end', { server: this.#server.name, pids });
    }
  }

  /** What it said of its trouble, as part of a sentence to a person; empty when it said nothing. */
  lastWords(): string {
    const lines = this.#output
      .tail()
      .map((line) => this.#mask(line))
      .filter((line) => line.trim() !== '');
    // A trace ends in frames and braces; the line that names the error stands before them.
    const named = lines.findIndex((line) =>
      /error|exception|cannot|not found|fatal|panic|denied/i.test(line),
    );
    const told = (named < 0 ? lines.slice(-5) : lines.slice(named, named + 3)).join(' | ');
    return told === '' ? '' : `It wrote: ${told.length > 600 ? `${told.slice(0, 600)}…` : told}`;
  }

  #exited(end: ChildEnd): void {
    if (end.kind === 'failed') {
      this.#end(end.error);
      return;
    }
    const how = end.signal === null ? `exited with code ${end.code}` : `was ended by ${end.signal}`;
    this.#surroundings.log.info('exited', {
      server: this.#server.name,
      pid: this.child.pid,
      code: end.code ?? undefined,
      signal: end.signal ?? undefined,
      asked: this.#over || undefined,
      said: this.#over ? undefined : this.lastWords() || undefined,
    });
    if (this.#over) return;
    // The last answers have been read: an exit is told when the pipes are closed, or after a while when a descendant
    // holds them open.
    this.#lose(how);
  }

  #stdoutEnded(why: 'end' | 'overrun'): void {
    if (why === 'overrun') {
      this.#lose('sent a message without end');
      return;
    }
    this.#loseUnlessExited('closed its stdout');
  }

  /** A closed pipe usually means that it has exited, which is about to be told and says more. */
  #loseUnlessExited(how: string): void {
    setTimeout(() => {
      if (this.child.state.kind === 'running') this.#lose(how);
    }, EXIT_NEWS);
  }

  #lose(how: string): void {
    if (this.#over) return;
    const words = this.lastWords();
    const message = `Server '${this.#server.name}' ${how}.${words && ` ${words}`}`;
    this.#end(
      new SwitchboardError('SERVER_LOST', message, { hint: this.#greeted ? undefined : this.#startHint() }),
    );
  }

  #startHint(): string {
    const printed = this.#noise.first;
    return printed === undefined
      ? this.#surroundings.startHint
      : `It printed ${JSON.stringify(printed)}: its command does not seem to start an MCP server.`;
  }

  #end(error: SwitchboardError): void {
    if (this.#over) return;
    this.#over = true;
    this.questions.withdrawAll(error.message);
    this.#events.lost(error);
    this.peer.close();
    // Whatever it left behind ends too. It has no stdin to close any more.
    this.child.stop({ term: 0, kill: 2000 }).catch((reason: unknown) => {
      this.#surroundings.log.error('could not clean up', {
        server: this.#server.name,
        reason: String(reason),
      });
    });
  }
}

/** The server is alive but has not answered `initialize` in time. */
export class StartTimeout extends SwitchboardError {
  /** Resolves when the silent process is gone. */
  cleanedUp: Promise<void> = Promise.resolve();

  constructor(server: string, patience: number, words: string) {
    super(
      'START_TIMEOUT',
      `Server '${server}' did not answer initialize within ${patience} ms.${words && ` ${words}`}`,
      {
        hint: 'If it only needs longer, raise timeouts.childSpawnMs; if it prints nothing, check that its command starts an MCP server.',
      },
    );
  }
}
