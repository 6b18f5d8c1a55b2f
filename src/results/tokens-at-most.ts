import { estimateTokens } from '../shared/tokens.ts';

/**
 * An estimate of how many tokens a text costs a model that is never too low for the texts of `npm run bench`, and in
 * languages that o200k covers well. It must not be too low, because a text that fits by the estimate is passed on
 * whole.
 */
export function tokensAtMost(text: string): number {
  const rare = RARE.test(text) ? text.replace(COMMON, '').length : 0;
  return Math.ceil(
    Math.max(estimateTokens(text) * MARGIN, text.length / MAX_CHARS_PER_TOKEN) + rare * RARE_WEIGHT,
  );
}

/** How far the estimate is too low for the worst of them: random data, and JSON with many short words. */
const MARGIN = 1.25;
/** Only runs of one character have longer tokens, and nobody writes pages of them. */
export const MAX_CHARS_PER_TOKEN = 16;
/** Scripts such as Ethiopic and Khmer, which tokenizers encode as single bytes. */
const RARE = /[\u1200-\u1dff]/;
const COMMON = /[^\u1200-\u1dff]+/g;
const RARE_WEIGHT = 2;
