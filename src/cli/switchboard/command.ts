import type { App } from '../../app/index.ts';
import type { LoadedConfig } from '../../config/index.ts';
import type { Logger } from '../../shared/log.ts';
import type { Command, CommandOutcome } from '../kit/command.ts';
import type { Store } from '../../store/index.ts';
import type { CliVariant } from './variants.ts';
import type { StatusLine } from '../kit/live-block.ts';

/** One command of the programs that serve clients. */
export type CliCommand = Command<Context>;

/** Where a command is run for somebody else, such as a page. */
export interface CommandPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the command. */
  readonly stop: AbortSignal;
  /** Shows the person a page that they have to visit, and the port of this machine that it returns to. */
  readonly showPage?: ShowPage;
}

export type ShowPage = (url: string, returnPort: number) => void;

/** Runs a command and returns its outcome. It writes nothing, and leaves no server behind. */
export type RunQuietly = (
  argv: readonly string[],
  variant: CliVariant,
  place: CommandPlace,
) => Promise<CommandOutcome>;

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
  /** How the person is shown a page. Undefined: they sit at this terminal. */
  readonly showPage?: ShowPage | undefined;
  /**
   * Reads the configuration. Its warnings are logged, unless `quietly`. `strictly`: each of its files must be usable. `or new`:
   * the usual file may be missing. `tells of unusable`: the command itself says which servers cannot be used.
   */
  loadConfig(how?: 'quietly' | 'strictly' | 'or new' | 'tells of unusable'): Promise<LoadedConfig>;
  /**
   * The gateway over this configuration; whatever it starts is ended when the command ends. `startHint` is the next
   * step where a server does not start. Default: `doctor --start`. `store` is what it shares with others. Default: nothing.
   */
  open(config: LoadedConfig, startHint?: string, store?: Store): App;
  /** Runs another command. */
  readonly runQuietly: RunQuietly;
  /** The last lines a server wrote to stderr, unless they were shown already. */
  unseenOutput(server: string): readonly string[];
}
