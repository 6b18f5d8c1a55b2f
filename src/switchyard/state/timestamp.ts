/** A time in the format of the records: UTC, whole seconds, `2026-01-31T12:00:00+00:00`. */
export function timestamp(time: Date = new Date()): string {
  return `${time.toISOString().slice(0, 19)}+00:00`;
}
