/** A time for a person: `0.4 s`, `12 s`. */
export function secondsText(ms: number): string {
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
