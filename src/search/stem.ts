/**
 * The stem of a lower-case English word: "creating", "created" and "creation" are one word. Removes only endings that
 * tools and people use; a wrong stem does no harm as long as it is the same everywhere.
 */
export function stem(word: string): string {
  const known = IRREGULAR.get(word);
  if (known !== undefined) return known;
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return withoutFinalE(withoutVerbEnding(singular(word)));
}

/** Irregular forms, by their stem, with the stem of the base form. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  (
    'using:use used:use uses:use ran:run wrote:writ written:writ found:find sent:send made:mak got:get gotten:get took:tak ' +
    'taken:tak gave:giv given:giv went:go gone:go goes:go going:go saw:see seen:see said:say told:tell left:leav kept:keep ' +
    'built:build spent:spend bought:buy paid:pay sold:sell met:meet chose:choos chosen:choos broke:break broken:break ' +
    'wrong:wrong children:child people:person men:man indices:index vertices:vertex matrices:matrix data:data ' +
    'status:status news:news canvas:canvas access:access process:process address:address lens:lens series:series ' +
    'analyses:analys analysis:analys analyze:analys analyse:analys analytics:analytic redis:redis ' +
    'drew:draw drawn:draw threw:throw began:begin held:hold wiki:wiki its:it dns:dns css:css js:js aws:aws kubernetes:kubernetes'
  )
    .split(' ')
    .map((pair): [string, string] => {
      const [word = '', to = ''] = pair.split(':');
      return [word, to];
    }),
);

function singular(word: string): string {
  if (!word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

function withoutVerbEnding(word: string): string {
  if (word.endsWith('ied') && word.length > 4) return `${word.slice(0, -3)}y`;
  for (const ending of ['ing', 'ed']) {
    const rest = word.slice(0, -ending.length);
    if (word.endsWith(ending) && rest.length >= 3 && /[aeiouy]/.test(rest)) return undoubled(rest);
  }
  if (/[st]ion$/.test(word) && word.length > 6) return withoutFinalE(word.slice(0, -3));
  if (word.endsWith('ment') && word.length > 8) return word.slice(0, -4);
  if (word.endsWith('ly') && word.length > 6) return word.slice(0, -2);
  return word;
}

/** `running` to `run`, but `calling` to `call`. */
function undoubled(word: string): string {
  return /([bdfgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}

function withoutFinalE(word: string): string {
  return word.length > 3 && word.endsWith('e') ? word.slice(0, -1) : word;
}
