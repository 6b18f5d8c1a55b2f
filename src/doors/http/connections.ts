import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** The limit for all connections. */
  readonly connections: number;
  /** The limit for connections that have not shown a token. The other places are reserved for those that have. */
  readonly strangers: number;
  /** How long a connection may take to show a token, in milliseconds. */
  readonly strangerMs: number;
}

export interface ConnectionsOptions extends ConnectionLimits {
  /** Ends a connection that has not shown a token in time. */
  readonly tooSlow: (socket: Socket) => void;
  /** A connection without a token was closed to make room for another. */
  readonly evicted: () => void;
}

/**
 * The open connections. Anyone on this machine can open one, so those that have not shown a token, the strangers, must
 * never keep out others: they get little time and few places, and the oldest is closed when a new one arrives.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  /** In order of arrival, each with the timer that ends it. */
  readonly #strangers = new Map<Socket, NodeJS.Timeout>();
  #size = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  add(socket: Socket): void {
    const { strangerMs, tooSlow } = this.#options;
    this.#size++;
    const late = (): void => {
      // First read what arrived while this process was busy.
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
