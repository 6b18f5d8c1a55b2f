/** The timeouts of the HTTP door, in milliseconds. */
export type HttpTimeouts = Readonly<typeof DEFAULT_TIMEOUTS>;

export const DEFAULT_TIMEOUTS = {
  /** Until a new connection has shown a token. */
  strangerMs: 10_000,
  /** Until a request has sent its headers. */
  headersMs: 10_000,
  /** Until a request has sent its body. */
  bodyMs: 60_000,
  /** A body of which nothing arrives for this long is given up. */
  bodyStallMs: 30_000,
  /** A request without an answer for this long becomes an event stream. */
  silenceMs: 5000,
  /** A stream that is silent for this long gets a comment, so that no proxy closes it. */
  keepAliveMs: 15_000,
  /** A client that reads nothing for this long while data waits is disconnected. */
  stallMs: 60_000,
  /** A session idle for this long may be closed to make room for another. */
  evictMs: 60_000,
  /** Events of a stream that has ended can be replayed for this long. */
  resumeMs: 120_000,
  /** When the door closes, unsent data gets this long. */
  flushMs: 1000,
  /** How often these are checked. */
  tickMs: 1000,
};
