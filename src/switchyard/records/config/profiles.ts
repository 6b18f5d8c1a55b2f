import { didYouMean } from '../../../shared/nearest.ts';
import { slug } from '../names.ts';
import type { ProfileDefinition } from './definition.ts';
import { namedTables, type Table } from './table.ts';

/** `[profiles.<name>]`: services that start together, and their variables. */
export function readProfiles(root: Table, services: readonly string[]): readonly ProfileDefinition[] {
  return [...namedTables(root.table('profiles'), 'profile')].map(([name, table]) => {
    const chosen = [...new Set(table.texts('services').map(slug))];
    const unknown = chosen.filter((each) => !services.includes(each));
    const [first] = unknown;
    if (first !== undefined) {
      throw table.error(
        'services',
        `references unknown service(s): ${unknown.join(', ')}`,
        didYouMean(first, services) ?? `Available: ${services.join(', ')}.`,
      );
    }
    const profile = { name, services: chosen, env: table.variables('env') };
    table.finish();
    return profile;
  });
}
