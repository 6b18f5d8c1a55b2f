/** Vector comparisons over a block of 64 bytes, in four parts. */

/** A bit for each byte of a block, from the results of a comparison. */
export function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    (i8x16.bitmask(a) as u64) |
    ((i8x16.bitmask(b) as u64) << 16) |
    ((i8x16.bitmask(c) as u64) << 32) |
    ((i8x16.bitmask(d) as u64) << 48)
  );
}

export function equal(a: v128, b: v128, c: v128, d: v128, byte: i8): u64 {
  const like = i8x16.splat(byte);
  return bits(i8x16.eq(a, like), i8x16.eq(b, like), i8x16.eq(c, like), i8x16.eq(d, like));
}

/** No quotes, backslashes or control characters, only ASCII. As signed numbers, non-ASCII bytes are below the space too. */
export function isPlain(a: v128, b: v128, c: v128, d: v128): bool {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const first = v128.or(
    v128.or(i8x16.eq(a, quote), i8x16.eq(a, backslash)),
    v128.or(i8x16.eq(b, quote), i8x16.eq(b, backslash)),
  );
  const second = v128.or(
    v128.or(i8x16.eq(c, quote), i8x16.eq(c, backslash)),
    v128.or(i8x16.eq(d, quote), i8x16.eq(d, backslash)),
  );
  const least = i8x16.min_s(i8x16.min_s(a, b), i8x16.min_s(c, d));
  return !v128.any_true(v128.or(v128.or(first, second), i8x16.lt_s(least, i8x16.splat(0x20))));
}

/** Each bit becomes 1 if the number of ones up to it is odd. */
export function parity(mask: u64): u64 {
  mask ^= mask << 1;
  mask ^= mask << 2;
  mask ^= mask << 4;
  mask ^= mask << 8;
  mask ^= mask << 16;
  return mask ^ (mask << 32);
}

/**
 * " / \ b f n r t u. One table has, for the low four bits of a character, a bit for each high half that makes it one of
 * these. The other has the bit of each high half.
 */
export function canBeEscaped(bytes: v128): v128 {
  const highsByLow = i8x16(0, 0, 0b1101, 0, 0b1000, 0b1000, 0b0100, 0, 0, 0, 0, 0, 0b0010, 0, 0b0100, 0b0001);
  const bitByHigh = i8x16(0, 0, 0b0001, 0, 0, 0b0010, 0b0100, 0b1000, 0, 0, 0, 0, 0, 0, 0, 0);
  return i8x16.ne(
    v128.and(
      i8x16.swizzle(highsByLow, v128.and(bytes, i8x16.splat(0x0f))),
      i8x16.swizzle(bitByHigh, i8x16.shr_u(bytes, 4)),
    ),
    i8x16.splat(0),
  );
}
