import { estimateTokens } from '../shared/tokens.ts';

/**
 * How many tokens a text costs a model at most, by an estimate: on the texts of `npm run bench` and in languages that
 * o200k knows well, it is never too low. It must not be: what fits by the estimate is passed on whole.
 */
export function tokensAtMost(text: string): number {
  const rare = RARE.test(text) ? text.replace(COMMON, '').length : 0;
  return Math.ceil(
    Math.max(estimateTokens(text) * MARGIN, text.length / MAX_CHARS_PER_TOKEN) + rare * RARE_WEIGHT,
  );
}

/** By so much, the estimate is too low for the worst of them: random data, and JSON with many short words. */
const MARGIN = 1.25;
/** Only runs of one character have longer tokens, and nobody writes pages of those. */
export const MAX_CHARS_PER_TOKEN = 16;
/** Scripts such as Ethiopic and Khmer, of which tokenizers know single bytes. */
const RARE = /[\u1200-\u1dff]/;
const COMMON = /[^\u1200-\u1dff]+/g;
const RARE_WEIGHT = 2;
