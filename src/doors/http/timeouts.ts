/** The timeouts of the HTTP door, in milliseconds. */
export interface HttpTimeouts {
  /** Until a request has sent its headers. */
  readonly headersMs: number;
  /** Until a request has sent its body. */
  readonly bodyMs: number;
  /** A request without an answer for this long becomes an event stream. */
  readonly silenceMs: number;
  /** A stream that is silent for this long gets a comment, so that no proxy closes it. */
  readonly keepAliveMs: number;
  /** A client that reads nothing for this long while data waits is disconnected. */
  readonly stallMs: number;
  /** A session idle for this long may be closed to make room for another. */
  readonly evictMs: number;
  /** Events of a stream that has ended can be replayed for this long. */
  readonly resumeMs: number;
  /** When the door closes, unsent data gets this long. */
  readonly flushMs: number;
  /** How often these are checked. */
  readonly tickMs: number;
}

export const DEFAULT_TIMEOUTS: HttpTimeouts = {
  headersMs: 10_000,
  bodyMs: 60_000,
  silenceMs: 5000,
  keepAliveMs: 15_000,
  stallMs: 60_000,
  evictMs: 60_000,
  resumeMs: 120_000,
  flushMs: 1000,
  tickMs: 1000,
};
