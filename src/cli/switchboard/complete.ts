import { LOG_LEVELS } from '../../shared/log.ts';
import { commandsOf } from './commands.ts';
import { COMMON_FLAGS, GLOBAL_FLAGS } from './flags.ts';
import { type Completion, type TypedSoFar, complete } from '../kit/completion/candidates.ts';
import type { CliVariant } from './variants.ts';

/** Prints what a shell can offer for the last word of a command line. Returns the exit code. */
export function completeCommand(typed: readonly string[], variant: CliVariant): Promise<number> {
  return complete(typed, () =>
    Promise.resolve({
      commands: commandsOf(variant),
      topFlags: GLOBAL_FLAGS.filter((flag) => flag.forHttp !== true || variant.listens !== undefined),
      commonFlags: COMMON_FLAGS,
      names: (kind, given) => names(kind, given, variant),
    }),
  );
}

async function names(
  kind: string,
  { values }: TypedSoFar,
  variant: CliVariant,
): Promise<readonly Completion[]> {
  switch (kind) {
    case 'level':
      return LOG_LEVELS.map((level) => [level, '']);
    case 'host': {
      const { HOSTS } = await import('../../hosts/index.ts');
      return HOSTS.map(({ name, title }) => [name, title]);
    }
    case 'token-name': {
      const { readTokens, tokenFile } = await import('./token/token-file.ts');
      return readTokens(tokenFile(process.env)).map(({ name }) => [name, '']);
    }
    case 'secret-name': {
      const { SecretStore } = await import('../../secrets/index.ts');
      return new SecretStore(process.env).list().map(({ name }) => [name, '']);
    }
    case 'server': {
      const { readConfiguration } = await import('./configuration.ts');
      const config = await readConfiguration(
        values.get('config'),
        { cwd: process.cwd(), env: process.env },
        variant,
      );
      const { commandText, redactCommand } = await import('../../config/index.ts');
      return [
        ...config.servers.map((server) => [server.name, commandText(redactCommand(server))] as const),
        ...config.disabled.map((name) => [name, 'disabled'] as const),
        ...config.unusable.map(({ name }) => [name, 'not available'] as const),
      ];
    }
    default:
      return [];
  }
}
