/** Milliseconds that never go back, as `performance.now()` has them, for which Node would load all that measures. */
export function now(): number {
  return process.uptime() * 1000;
}
