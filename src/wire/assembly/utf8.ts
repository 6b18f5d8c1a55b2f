import { bits } from './block';

// Errors that two consecutive bytes can have. The three tables each tell which are possible.
const TOO_SHORT: u8 = 0x01; // a lead byte without continuation
const TOO_LONG: u8 = 0x02; // a continuation after ASCII
const OVERLONG_3: u8 = 0x04;
const TOO_LARGE: u8 = 0x08; // above U+10FFFF
const SURROGATE: u8 = 0x10;
const OVERLONG_2: u8 = 0x20;
const OVERLONG_4: u8 = 0x40;
const TOO_LARGE_1000: u8 = 0x40; // a lead byte of F5 and above, if the next one is 8x
const TWO_CONTINUATIONS: u8 = 0x80; // allowed as the third or fourth byte
const ANY_LOW: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;
const ABOVE_4: u8 = ANY_LOW | TOO_LARGE | TOO_LARGE_1000;
const CONTINUES: u8 = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS;

/** Bytes where a block turns out to be ill-formed UTF-8: at the latest, the first ASCII byte after the error. */
export function utf8Errors(at: usize): u64 {
  const a = utf8Error(at);
  const b = utf8Error(at + 16);
  const c = utf8Error(at + 32);
  const d = utf8Error(at + 48);
  if (!v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) return 0;
  const none = i8x16.splat(0);
  return bits(i8x16.ne(a, none), i8x16.ne(b, none), i8x16.ne(c, none), i8x16.ne(d, none));
}

function utf8Error(at: usize): v128 {
  // prettier-ignore
  const byFirstHigh = i8x16(
    TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
    TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS,
    TOO_SHORT | OVERLONG_2,
    TOO_SHORT,
    TOO_SHORT | OVERLONG_3 | SURROGATE,
    TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4,
  );
  // prettier-ignore
  const byFirstLow = i8x16(
    ANY_LOW | OVERLONG_2 | OVERLONG_3 | OVERLONG_4,
    ANY_LOW | OVERLONG_2,
    ANY_LOW, ANY_LOW,
    ANY_LOW | TOO_LARGE,
    ABOVE_4, ABOVE_4, ABOVE_4, ABOVE_4, ABOVE_4, ABOVE_4, ABOVE_4, ABOVE_4,
    ABOVE_4 | SURROGATE,
    ABOVE_4, ABOVE_4,
  );
  // prettier-ignore
  const bySecondHigh = i8x16(
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    CONTINUES | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
    CONTINUES | OVERLONG_3 | TOO_LARGE,
    CONTINUES | SURROGATE | TOO_LARGE, CONTINUES | SURROGATE | TOO_LARGE,
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
  );
  const second = v128.load(at);
  const first = v128.load(at - 1);
  const wrong = v128.and(
    v128.and(
      i8x16.swizzle(byFirstHigh, i8x16.shr_u(first, 4)),
      i8x16.swizzle(byFirstLow, v128.and(first, i8x16.splat(0x0f))),
    ),
    i8x16.swizzle(bySecondHigh, i8x16.shr_u(second, 4)),
  );
  // Two consecutive continuations are required exactly two bytes after a lead of three or four, or three after one of four.
  const third = i8x16.sub_sat_u(v128.load(at - 2), i8x16.splat(0x60));
  const fourth = i8x16.sub_sat_u(v128.load(at - 3), i8x16.splat(0x70));
  return v128.xor(v128.and(v128.or(third, fourth), i8x16.splat(-0x80)), wrong);
}
