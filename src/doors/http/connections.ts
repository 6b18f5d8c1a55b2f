import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** All connections. */
  readonly connections: number;
  /** Those of them that have not shown a token. The other places are for those that have. */
  readonly strangers: number;
  /** How long a connection may take to show one, in milliseconds. */
  readonly strangerMs: number;
}

export interface ConnectionsOptions extends ConnectionLimits {
  /** Ends a connection that has not shown a token in time. */
  readonly tooSlow: (socket: Socket) => void;
  /** A connection without a token was closed to make room. */
  readonly evicted: () => void;
}

/**
 * The open connections. Anyone on this machine can open one, so those that have not shown a token, the strangers, never
 * keep out others: they have little time and few places, and the oldest goes when a new one comes.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  /** In the order in which they came, each with what ends it. */
  readonly #strangers = new Map<Socket, NodeJS.Timeout>();
  #size = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  add(socket: Socket): void {
    const { strangerMs, tooSlow } = this.#options;
    this.#size++;
    const late = (): void => {
      // What has arrived while this process had no time is read first.
      setImmediate(() => this.#strangers.has(socket) && tooSlow(socket));
    };
    this.#strangers.set(socket, setTimeout(late, strangerMs).unref());
    socket.on('close', () => {
      this.#size--;
      this.admit(socket);
    });
    this.#makeRoom();
  }

  /** A connection has shown a token. */
  admit(socket: Socket): void {
    if (this.#strangers.size === 0) return;
    clearTimeout(this.#strangers.get(socket));
    this.#strangers.delete(socket);
  }

  #makeRoom(): void {
    const { connections, strangers, evicted } = this.#options;
    let tooMany = Math.max(this.#strangers.size - strangers, this.#size - connections);
    for (const oldest of this.#strangers.keys()) {
      if (tooMany-- <= 0) return;
      this.admit(oldest);
      oldest.destroy();
      evicted();
    }
  }
}
