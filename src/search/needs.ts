/** The single needs in a query: "create a branch; push the files" is two. */
export function needsIn(query: string): string[] {
  const parts = query
    .split(/[;\n]+|,?\s+(?:and\s+)?then\s+/i)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.length === 0 ? [query.trim()] : parts.slice(0, MOST_NEEDS);
}

const MOST_NEEDS = 4;
