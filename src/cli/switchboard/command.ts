import type { App } from '../../app.ts';
import type { LoadedConfig } from '../../config/index.ts';
import type { Logger } from '../../shared/log.ts';
import type { Command } from '../kit/command.ts';
import type { CliVariant } from './variants.ts';
import type { StatusLine } from '../kit/live-block.ts';

/** One command of the programs that serve clients. */
export type CliCommand = Command<Context>;

/** What a command may use of the world. */
export interface Context {
  /** Which program we are. */
  readonly variant: CliVariant;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Where to show what is going on while the person waits. */
  readonly status: StatusLine;
  /** Aborted when the person wants to stop. */
  readonly stop: AbortSignal;
  /**
   * Reads the configuration. Its warnings are logged, unless `quietly`. `strictly`: each of its files must be usable. `or new`:
   * the usual file may be missing. `tells of unusable`: the command itself says which servers cannot be used.
   */
  loadConfig(how?: 'quietly' | 'strictly' | 'or new' | 'tells of unusable'): Promise<LoadedConfig>;
  /**
   * The gateway over this configuration; whatever it starts is ended when the command ends. `startHint` is the next
   * step where a server does not start. Default: `doctor --start`.
   */
  open(config: LoadedConfig, startHint?: string): App;
  /** The last lines a server wrote to stderr, unless they were shown already. */
  unseenOutput(server: string): readonly string[];
}
