import { LOG_LEVELS } from '../../shared/log.ts';
import { COMMON_FLAGS, GLOBAL_FLAGS } from '../arguments.ts';
import { commandsOf } from '../commands.ts';
import type { CliVariant } from '../program-variant.ts';
import { writeOutcome } from '../output.ts';
import { candidates, type Completion, type TypedSoFar } from './candidates.ts';

/** Prints the candidates for the last word, for a shell. Returns the exit code. */
export async function complete(typed: readonly string[], variant: CliVariant): Promise<number> {
  try {
    const topFlags = GLOBAL_FLAGS.filter((flag) => flag.forHttp !== true || variant.listens !== undefined);
    const found = await candidates(typed, {
      commands: commandsOf(variant),
      topFlags,
      commonFlags: COMMON_FLAGS,
      names: (kind, given) => names(kind, given, variant),
    });
    const text = found.map((line) => `${line}\n`).join('');
    await writeOutcome({ exitCode: 0, data: undefined, text: () => text }, false);
  } catch {
    // Whatever goes wrong, the person is in the middle of a line and must not be shown an error.
  }
  return 0;
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
    case 'server': {
      const { readConfiguration } = await import('../configuration.ts');
      const config = await readConfiguration(
        values.get('config'),
        { cwd: process.cwd(), env: process.env },
        variant,
      );
      const { commandText, redactCommand } = await import('../command-line.ts');
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
