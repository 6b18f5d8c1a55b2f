import { ConsoleModel, type ConsoleEvent, type Topic } from '../../../console/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { Context } from '../command.ts';
import { GatewayLinks } from './gateway-links.ts';

/** All running gateways of this user, for a command that follows them. */
export interface ObservedGateways {
  readonly model: ConsoleModel;
  readonly links: GatewayLinks;
}

/** Observes all running gateways; `heard` is called with what they report from then on. */
export async function observeGateways(
  { env }: Pick<Context, 'env'>,
  topics: readonly Topic[] = [],
  heard: (events: readonly ConsoleEvent[]) => void = () => undefined,
): Promise<ObservedGateways> {
  const model = new ConsoleModel();
  let begun = false;
  const links = new GatewayLinks({
    stateDirectory: stateDirectory(env),
    events: (events) => {
      for (const event of events) model.apply(event);
      if (begun) heard(events);
    },
  });
  await links.choose(topics);
  await links.open();
  begun = true;
  return { model, links };
}

/** Prints lines as they come, until the reader goes away or the user stops the command. */
export function printUntilStopped({ stop }: Pick<Context, 'stop'>): {
  readonly print: (lines: readonly string[]) => void;
  readonly untilStopped: () => Promise<void>;
} {
  const { stdout } = process;
  const stopped = new Promise<void>((resolve) => {
    stdout.on('error', () => resolve());
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  return {
    print: (lines) => void stdout.write(lines.map((line) => `${line}\n`).join('')),
    async untilStopped() {
      // While no gateway runs, nothing else would keep this process alive.
      const alive = setInterval(() => undefined, 3_600_000);
      await stopped;
      clearInterval(alive);
    },
  };
}
