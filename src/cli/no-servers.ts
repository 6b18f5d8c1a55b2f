import type { LoadedConfig } from '../config/index.ts';
import { printableLine } from '../shared/printable.ts';
import { expandPlaceholders, requiresConfigFlag, type CliVariant } from './program-variant.ts';

/** What there is to say where nothing is configured. */
export function noServersText(variant: CliVariant, config?: Pick<LoadedConfig, 'unusable'>): string {
  if (config !== undefined && config.unusable.length > 0) {
    const lines = config.unusable.map(({ name, reason, nextStep }) =>
      printableLine(`${JSON.stringify(name)}: ${reason}. ${nextStep}`),
    );
    return expandPlaceholders(
      variant,
      `No server is available; \`$0 doctor\` shows details.\n${lines.join('\n')}\n`,
    );
  }
  if (requiresConfigFlag(variant))
    return `No server is configured. ${variant.servers ?? ''}`.trimEnd() + '\n';
  return expandPlaceholders(
    variant,
    'No server is configured. `$0 init` imports the servers of your hosts; `$0 add NAME -- COMMAND` (or `--url URL`) adds one.\n',
  );
}
