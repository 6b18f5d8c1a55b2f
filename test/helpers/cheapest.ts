/**
 * How long some work takes when nothing disturbs it, in milliseconds: the minimum of up to ten attempts. Stops as soon
 * as one is below the bound, so only work that is really too slow is repeated.
 */
export function cheapestMs(bound: number, work: () => void): number {
  let least = Infinity;
  for (let attempt = 0; attempt < 10 && least >= bound; attempt++) {
    const started = performance.now();
    work();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}
