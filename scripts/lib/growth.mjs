/** Whether something that is measured again and again grows, and how sure that is. */

const MS_PER_HOUR = 3_600_000;
/** With fewer independent measurements, the error itself is a guess. */
const LEAST = 4;

/**
 * The growth per hour of `{ at, value }` (in milliseconds) by least squares, and the standard error of that growth. What
 * is measured soon after another measurement says little new, so the error counts only as many measurements as would
 * be independent (Santer et al. 2000, from the autocorrelation of the residuals); it is infinite where they are too few.
 */
export function growthPerHour(points) {
  const n = points.length;
  if (n < 3) return { slope: NaN, error: Infinity };
  const mean = (values) => sum(values) / n;
  const hours = points.map(({ at }) => (at - points[0].at) / MS_PER_HOUR);
  const [meanAt, meanValue] = [mean(hours), mean(points.map(({ value }) => value))];
  const spread = sum(hours.map((at) => (at - meanAt) ** 2));
  const slope = sum(points.map(({ value }, i) => (hours[i] - meanAt) * (value - meanValue))) / spread;

  const residuals = points.map(({ value }, i) => value - meanValue - slope * (hours[i] - meanAt));
  const squares = sum(residuals.map((residual) => residual ** 2));
  if (squares === 0) return { slope, error: 0 };
  const neighbours = sum(residuals.slice(1).map((residual, i) => residual * residuals[i])) / squares;
  // A line through few points follows them, which hides some of the correlation.
  const correlation = Math.min(1, Math.max(0, neighbours + (1 + 4 * neighbours) / n));
  const independent = (n * (1 - correlation)) / (1 + correlation);
  return { slope, error: independent > LEAST ? Math.sqrt(squares / (independent - 2) / spread) : Infinity };
}

/** `grows` or `steady` only where the error leaves no doubt about it; otherwise `not shown`. */
export function compareGrowth({ slope, error }, limit) {
  if (slope - 2 * error > limit) return 'grows';
  return slope + 2 * error <= limit ? 'steady' : 'not shown';
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
