/** The exit codes of all programs; the help explains them from here. */
export const Exit = {
  ok: 0,
  /** The command ran, and something it was asked to do failed. */
  failed: 1,
  /** The command line is wrong; nothing was tried. */
  usage: 2,
  /** The server could not be started. */
  notStarted: 3,
  /** A bug in Switchboard. */
  bug: 70,
  /** The configuration cannot be used. */
  config: 78,
  /** The person pressed Ctrl-C. */
  cancelled: 130,
} as const;
