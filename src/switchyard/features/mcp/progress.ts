import type { Call } from '../../../gateway/index.ts';
import { Client, SERVER_SHAPE } from '../../../protocol/index.ts';
import { Message } from '../../../wire/index.ts';
import type { OnEvent } from '../../runtime/events.ts';

/** Progress interval, in milliseconds. Hosts give up on calls that stay silent for long. */
const EVERY = 2000;

export interface ProgressReporter {
  readonly onEvent: OnEvent;
  /** Stops reporting. */
  end(): void;
}

/** Reports the progress of a call, if the client requested it. */
export function reportProgress(call: Call): ProgressReporter {
  const token = tokenOf(call);
  if (token === undefined) return { onEvent: () => undefined, end: () => undefined };
  let steps = 0;
  const report = (message: string): void => {
    steps++;
    const params = `"progressToken":${token},"progress":${steps},"message":${JSON.stringify(message)}`;
    call.notify(
      Message.fromText(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{${params}}}`,
        SERVER_SHAPE,
      ),
      [],
    );
  };
  const waiting = new Set<string>();
  const timer = setInterval(() => {
    if (waiting.size > 0) report(`waiting for ${[...waiting].join(', ')}`);
  }, EVERY);
  timer.unref();
  return {
    onEvent: (event) => {
      if ('service' in event) {
        if (event.kind === 'starting' || event.kind === 'stopping') waiting.add(event.service);
        else waiting.delete(event.service);
      }
      report(event.text);
    },
    end: () => clearInterval(timer),
  };
}

/** A string or a number, as JSON text. */
function tokenOf({ request }: Call): string | undefined {
  const token = request.text(Client.progressToken);
  return token !== undefined && /^["\d-]/.test(token) ? token : undefined;
}
