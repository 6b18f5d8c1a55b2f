import { ConsoleModel, type ConsoleEvent, type Topic } from '../../../console/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { Context } from '../command.ts';
import { GatewayLinks } from './gateway-links.ts';

/** All gateways of this user, as a command sees them. */
export interface ObservedGateways {
  readonly model: ConsoleModel;
  readonly links: GatewayLinks;
}

/** Looks at all gateways that run; `heard` is called with what they say after that. */
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

/** Prints lines as they come until nobody reads them, or the person stops. */
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
      // Where no gateway runs, nothing else would keep this process until one starts.
      const alive = setInterval(() => undefined, 3_600_000);
      await stopped;
      clearInterval(alive);
    },
  };
}
