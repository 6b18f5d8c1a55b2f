/** The exit codes of all programs, which are also the source of their help texts. */
export const Exit = {
  ok: 0,
  /** The command ran, and something it was to do failed. */
  failed: 1,
  /** The command line is invalid; nothing was done. */
  usage: 2,
  /** The server could not be started. */
  notStarted: 3,
  /** A bug in Switchboard. */
  bug: 70,
  /** The configuration cannot be used. */
  config: 78,
  /** The user pressed Ctrl-C. */
  cancelled: 130,
} as const;
