import type { Warn } from './candidate.ts';
import type { CompoundDefinition } from './compound.ts';
import type { ServerDefinition } from './definition.ts';
import type { Origin } from './tool-settings.ts';

/** A tool name chosen in a configuration, and what it refers to. */
interface ChosenName {
  readonly name: string;
  readonly what: string;
  readonly origin: Origin;
}

/** Warns about tools with the same name. The later one gets a number as a suffix, which users would not expect. */
export function warnAboutNameClashes(
  servers: readonly ServerDefinition[],
  compounds: readonly CompoundDefinition[],
  warn: Warn,
): void {
  const chosen: ChosenName[] = [
    ...compounds.map(({ name, origin }) => ({ name, what: `the compound tool "${name}"`, origin })),
    ...servers.flatMap(namesOf),
  ];
  const first = new Map<string, ChosenName>();
  for (const each of chosen) {
    const other = first.get(each.name);
    if (other === undefined) {
      first.set(each.name, each);
      continue;
    }
    const location = `${other.origin.file}${other.origin.key === '' ? '' : ` (${other.origin.key})`}`;
    const message = `${each.what} has the same tool name as ${other.what} in ${location}: "${each.name}". Rename one of them`;
    warn({ ...each.origin, message, level: 'warn' });
  }
}

/** The names that are known before a server has listed its tools. */
function namesOf({ name, exposure, naming, suite, tools, origin }: ServerDefinition): ChosenName[] {
  if (exposure === 'suite')
    return [{ name: suite.name ?? `${name}_suite`, what: `the suite of "${name}"`, origin }];
  if (exposure !== 'flat' || naming === 'prefixed') return [];
  return [...tools.shapes].flatMap(([tool, { exposed, origin: renamed }]) =>
    exposed === undefined
      ? []
      : [{ name: exposed, what: `the tool "${tool}" of "${name}"`, origin: renamed }],
  );
}
