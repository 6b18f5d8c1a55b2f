/** How long things may take at the door, in milliseconds. */
export interface HttpTimeouts {
  /** Until a request has sent its headers. */
  readonly headersMs: number;
  /** Until a request has sent its body. */
  readonly bodyMs: number;
  /** A request that has been silent for so long is answered with a stream. */
  readonly silenceMs: number;
  /** A stream that has been silent for so long gets a comment, so that nobody on the way takes it for dead. */
  readonly keepAliveMs: number;
  /** A client that takes nothing for so long, while much waits for it, is gone. */
  readonly stallMs: number;
  /** A session unused for so long may be closed to make room for another. */
  readonly evictMs: number;
  /** What was sent on a stream that is over can be had again for so long. */
  readonly resumeMs: number;
  /** What is left to send when the door closes gets so long. */
  readonly flushMs: number;
  /** How often all this is looked at. */
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
