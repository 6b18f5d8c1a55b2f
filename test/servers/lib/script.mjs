/**
 * The pieces of a script: bytes as base64, with $id and $token of the call in them replaced, cut at these offsets
 * (modulo the length).
 */
export function cutScript({ bytes, cuts = [] }, { id, progressToken }) {
  const text = Buffer.from(bytes, 'base64').toString('latin1');
  const filled = text
    .replaceAll('$id', JSON.stringify(id))
    .replaceAll('$token', JSON.stringify(progressToken ?? 'no token'));
  const whole = Buffer.from(filled, 'latin1');
  const ends = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => whole.subarray(start, ends[index]));
}
