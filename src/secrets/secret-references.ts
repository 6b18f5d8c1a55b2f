/** The names of all secrets that a value refers to with `${secret:NAME}`, at any depth. */
export function secretReferences(value: unknown): string[] {
  const names = new Set<string>();
  const look = (each: unknown): void => {
    if (typeof each === 'string') {
      if (each.includes('${secret:')) for (const [, name = ''] of each.matchAll(REFERENCE)) names.add(name);
    } else if (typeof each === 'object' && each !== null)
      for (const inner of Object.values(each)) look(inner);
  };
  look(value);
  return [...names];
}

const REFERENCE = /(?<!\$)\$\{secret:([A-Za-z_][\w.-]*)(?=\}|:-)/g;
