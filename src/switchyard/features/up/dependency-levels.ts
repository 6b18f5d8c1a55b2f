import type { ServiceDefinition } from '../../records/config/definition.ts';

const VISITING = -1;

/**
 * The wanted services and all their dependencies, in levels: those of a level may start together once the previous
 * level is ready. Within a level they keep the order of the file.
 */
export function levelsOf(
  services: readonly ServiceDefinition[],
  wanted: readonly string[],
): readonly (readonly ServiceDefinition[])[] {
  const byName = new Map(services.map((service) => [service.name, service]));
  const levels = new Map<string, number>();
  const levelOf = (name: string): number => {
    const known = levels.get(name);
    if (known === VISITING) throw new Error(`"${name}" depends on itself, which the configuration refuses`);
    if (known !== undefined) return known;
    levels.set(name, VISITING);
    const below = (byName.get(name)?.dependsOn ?? []).map(levelOf);
    const level = below.length === 0 ? 0 : Math.max(...below) + 1;
    levels.set(name, level);
    return level;
  };
  for (const name of wanted) levelOf(name);
  const height = Math.max(-1, ...levels.values()) + 1;
  return Array.from({ length: height }, (_, level) =>
    services.filter(({ name }) => levels.get(name) === level),
  );
}
