/** Monotonic milliseconds, as `performance.now()`, for which Node would load its whole performance module. */
export function now(): number {
  return process.uptime() * 1000;
}
