/** The timeouts of the HTTP door, in milliseconds. */
export type HttpTimeouts = Readonly<typeof DEFAULT_TIMEOUTS>;

export const DEFAULT_TIMEOUTS = {
  /** How long a new connection may take to show a token. */
  strangerMs: 10_000,
  /** How long a request may take to send its headers. */
  headersMs: 10_000,
  /** How long a request may take to send its body. */
  bodyMs: 60_000,
  /** A body that stalls for this long is given up. */
  bodyStallMs: 30_000,
  /** A request that is unanswered for this long gets an event stream. */
  silenceMs: 5000,
  /** A stream that is silent for this long gets a comment, so that no proxy closes it. */
  keepAliveMs: 15_000,
  /** A client that reads nothing for this long while data waits for it is disconnected. */
  stallMs: 60_000,
  /** A session that is idle for this long may be closed to make room for another. */
  evictMs: 60_000,
  /** How long the events of an ended stream can be replayed. */
  resumeMs: 120_000,
  /** How long unsent data may take when the door closes. */
  flushMs: 1000,
  /** How often these timeouts are checked. */
  tickMs: 1000,
};
