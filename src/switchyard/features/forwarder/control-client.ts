import { connect } from 'node:net';
import type { Home } from '../../records/state/home.ts';
import { controlSocket, readLines } from './control-socket.ts';
import type {
  Mapping,
  ForwardAnswer,
  ForwardFailure,
  ForwardRequest,
  MapAnswer,
  OpenMapping,
  PingAnswer,
  UnmapAnswer,
} from './protocol.ts';

/** The forwarder of a home, as a command uses it. Requests resolve to undefined if no forwarder responds. */
export interface ForwarderLine {
  ping(): Promise<PingAnswer | undefined>;
  map(mapping: Mapping): Promise<MapAnswer | ForwardFailure | undefined>;
  unmap(port: number): Promise<UnmapAnswer | ForwardFailure | undefined>;
  list(): Promise<readonly OpenMapping[] | undefined>;
}

/** Response timeout, in milliseconds. The work itself takes one. */
const TIMEOUT_MS = 3000;

export function callForwarder(home: Home): ForwarderLine {
  const path = controlSocket(home);
  return {
    async ping() {
      const answer = await ask(path, { op: 'ping' });
      return answer !== undefined && 'pid' in answer ? answer : undefined;
    },
    map: (mapping) => ask(path, { op: 'map', mapping }) as ReturnType<ForwarderLine['map']>,
    unmap: (port) => ask(path, { op: 'unmap', port }) as ReturnType<ForwarderLine['unmap']>,
    async list() {
      const answer = await ask(path, { op: 'list' });
      return answer !== undefined && 'mappings' in answer ? answer.mappings : undefined;
    },
  };
}

function ask(path: string, request: ForwardRequest): Promise<ForwardAnswer | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const timer = setTimeout(() => finish(undefined), TIMEOUT_MS);
    const finish = (answer: ForwardAnswer | undefined): void => {
      clearTimeout(timer);
      resolve(answer);
      socket.destroy();
    };
    socket.on('error', () => finish(undefined));
    socket.on('close', () => finish(undefined));
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    readLines(socket, (line) => {
      try {
        finish(JSON.parse(line) as ForwardAnswer);
      } catch {
        finish(undefined);
      }
    });
  });
}
