import {
  describeWarning,
  type LoadedConfig,
  type ServerDefinition,
  type UnusableServer,
} from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { unknownServer } from '../../../shared/unknown-server.ts';
import type { Context } from '../command.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import { printableLine } from '../../../shared/printable.ts';
import { expandPlaceholders, requiresConfigFlag, type CliVariant } from '../variants.ts';

/** The one server that the words name. Throws USAGE if they name none, or several. */
export function oneServerIn(
  { words: [name, ...more] }: ParsedArguments,
  command: string,
  { variant }: Pick<Context, 'variant'>,
  example: string,
): string {
  if (name !== undefined && more.length === 0) return name;
  throw usage(
    `${command} needs the name of one server.`,
    `For example: ${variant.program} ${command} ${example}`,
  );
}

/** The names of servers that a person may mean, including disabled ones. */
export function configuredNames({ servers, disabled }: LoadedConfig): string[] {
  return [...servers.map((server) => server.name), ...disabled];
}

/** The servers with these names, or all if there are no names. Throws for an unknown name. */
export function selectServers(config: LoadedConfig, names: readonly string[]): readonly ServerDefinition[] {
  const named = new Set(names.map((name) => selectServer(config, name)));
  return names.length === 0 ? config.servers : config.servers.filter((server) => named.has(server));
}

/** The server with this name; throws if it is not configured. */
export function selectServer(config: LoadedConfig, name: string): ServerDefinition {
  const found = config.servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  if (config.disabled.includes(name)) {
    throw usage(
      `The server ${JSON.stringify(name)} is disabled.`,
      `\`switchboard enable ${name}\` enables it, or remove "disabled" from its definition.`,
    );
  }
  refuseUnusable(config, name);
  throw unknownServer(
    name,
    config.servers.map((server) => server.name),
  );
}

/** Throws for a server that is configured but cannot be used, with the reason. */
function refuseUnusable({ unusable, warnings }: LoadedConfig, name: string): void {
  const reasons = warnings.filter(({ server }) => server === name).map(describeWarning);
  const found = unusable.find((server) => server.name === name);
  if (found === undefined && reasons.length === 0) return;
  const why = reasons.length === 0 ? ` ${found?.reason ?? ''}` : `\n${reasons.join('\n')}`;
  throw new SwitchboardError(
    'SERVER_UNUSABLE',
    `The server ${JSON.stringify(name)} is not available:${why}`,
    {
      hint: found?.nextStep,
    },
  );
}

/** The server with this name; if there is none, the error also says what to do about it. */
export function requireServer(config: LoadedConfig, name: string, otherwise: string): ServerDefinition {
  try {
    return selectServer(config, name);
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code !== 'SERVER_UNKNOWN') throw error;
    const hint = [error.hint, otherwise].filter((text) => text !== undefined).join(' ');
    throw new SwitchboardError(error.code, error.message, { hint });
  }
}

/** An unusable server, for scripts. */
export function unusableData({ name, reason, nextStep, origin }: UnusableServer): object {
  return { name, reason, nextStep, source: origin };
}

/** The warnings except those about unusable servers, for callers that report these servers anyway. */
export function otherWarnings({ unusable, warnings }: LoadedConfig): LoadedConfig['warnings'] {
  return warnings.filter(({ server }) => !unusable.some(({ name }) => name === server));
}

/** The text for a configuration without servers. */
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
