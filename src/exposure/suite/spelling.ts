/** A property name, without quotes if TypeScript allows that. */
export function propertyKey(name: string, maxChars: number): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name.length <= maxChars ? name : quotedText(name, maxChars);
}

export function quotedText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return visible(JSON.stringify(text));
  const cut = Math.max(0, maxChars);
  // Never cut between the halves of a surrogate pair.
  const whole = text.slice(0, cut).replace(/[\ud800-\udbff]$/, '');
  return `${visible(JSON.stringify(whole))}…`;
}

export function patternText(pattern: string): string {
  return pattern.length <= 60
    ? `/${visible(pattern)}/`
    : `/${visible(pattern.slice(0, 60).replace(/[\ud800-\udbff]$/, ''))}/…`;
}

export function plainWord(word: string): string {
  return visible(word.slice(0, 40)).replace(/[\s(),]/g, '_');
}

/**
 * Escapes characters that are invisible or that move visible text. They are not removed, as they would be in prose: a
 * name or value with a hidden character is a different one, and callers must be able to write it.
 */
function visible(text: string): string {
  return text.replace(
    /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\p{Default_Ignorable_Code_Point}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
