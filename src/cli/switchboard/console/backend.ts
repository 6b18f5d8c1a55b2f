import type {
  ActionName,
  ConsoleBackend,
  ConsoleEvent,
  ConsoleModel,
  Problem,
  Topic,
} from '../../../console/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { plainLine } from '../../../shared/printable.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/log.ts';
import type { CliVariant } from '../variants.ts';
import { ConsoleActions } from './actions.ts';
import type { CommandRunner } from './gateway-commands.ts';
import { GatewayLinks } from './gateway-links.ts';
import { MemorySampler } from './memory.ts';
import { ProjectsWatcher } from './projects-watcher.ts';

export interface ConsoleBackendOptions extends CommandRunner {
  readonly variant: CliVariant;
  readonly log: Logger;
  readonly readOnly: boolean;
}

/** What the page shows and does: the gateways of this user, and the commands. */
export function createConsoleBackend(
  options: ConsoleBackendOptions,
  model: ConsoleModel,
  tell: (events: readonly ConsoleEvent[]) => void,
): ConsoleBackend {
  let links: GatewayLinks | undefined;
  let topics: readonly Topic[] = [];
  const opened = (): GatewayLinks => {
    links ??= new GatewayLinks({ stateDirectory: stateDirectory(options.env), events: tell, own: true });
    return links;
  };
  const memory = new MemorySampler(model, tell);
  const projects = new ProjectsWatcher(options.env, tell);
  const actions = new ConsoleActions({
    ...options,
    model,
    links: opened,
    tell,
    projectsChanged: () => projects.lookNow(),
  });
  return {
    async open() {
      const opening = opened();
      void opening.choose(topics);
      await opening.open();
      memory.start();
    },
    async choose(wanted) {
      topics = wanted;
      projects.watch(wanted.includes('projects'));
      await links?.choose(wanted);
    },
    act: (method: ActionName, params, page) => actions.run(method, params, page),
    left: (page) => actions.left(page),
    close() {
      memory.stop();
      projects.watch(false);
      links?.close();
      links = undefined;
    },
    problem: (error): Problem => {
      if (error instanceof SwitchboardError)
        return { code: error.code, message: plainLine(error.message), nextStep: error.hint ?? null };
      options.log.error('an action of the console failed', { cause: String(error) });
      const message = error instanceof Error ? error.message : String(error);
      return { code: 'INTERNAL', message: plainLine(message), nextStep: null };
    },
  };
}
