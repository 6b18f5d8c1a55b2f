import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { asLoopback } from '../../records/config/loopback.ts';
import { openForwardedPort, type ForwardedPort } from './forwarded-port.ts';
import { sameMapping, PROTOCOL, type Mapping, type ForwardAnswer, type ForwardRequest } from './protocol.ts';

/** All canonical ports of one home. */
export interface Forwarder {
  /** Requests are handled one at a time, across all clients. */
  handle(request: ForwardRequest): Promise<ForwardAnswer>;
  readonly size: number;
  close(): Promise<void>;
}

/** `log` gets one line per event. */
export function createForwarder(log: (text: string) => void): Forwarder {
  const ports = new Map<number, ForwardedPort>();
  let last: Promise<unknown> = Promise.resolve();

  async function map(mapping: Mapping): Promise<ForwardAnswer> {
    const { listen_port: port, target_host, target_port } = mapping;
    if (asLoopback(target_host) === undefined) {
      return { ok: false, code: 'NOT_LOOPBACK', error: `${target_host} is not a loopback host` };
    }
    if (target_port === port)
      return { ok: false, code: 'BAD_REQUEST', error: 'a port cannot point to itself' };
    // Two ports that point to each other would pass a connection around until no descriptor is left.
    if (ports.has(target_port))
      return { ok: false, code: 'BAD_REQUEST', error: `port ${target_port} is a canonical port itself` };
    const forwardedPort = ports.get(port);
    if (forwardedPort === undefined) {
      ports.set(port, await openForwardedPort(mapping, log));
      log(`mapped ${described(mapping)}`);
      return { ok: true, kind: 'mapped', ended: 0, finishing: 0 };
    }
    const was = forwardedPort.mapping;
    if (sameMapping(was, mapping)) return { ok: true, kind: 'same', was, ended: 0, finishing: 0 };
    const left = await forwardedPort.retarget(mapping);
    log(
      `switched ${described(mapping)}, was ${was.service} of ${was.branch} on :${was.target_port}; ` +
        `${left.ended} connections ended, ${left.finishing} finishing`,
    );
    return { ok: true, kind: 'switched', was, ...left };
  }

  async function unmap(port: number): Promise<ForwardAnswer> {
    const forwardedPort = ports.get(port);
    if (forwardedPort === undefined) return { ok: true, kind: 'unknown', cut: 0 };
    const cut = forwardedPort.connections;
    ports.delete(port);
    await forwardedPort.close();
    log(`unmapped ${described(forwardedPort.mapping)}`);
    return { ok: true, kind: 'unmapped', cut };
  }

  async function answer(request: ForwardRequest): Promise<ForwardAnswer> {
    switch (request.op) {
      case 'map':
        return map(request.mapping);
      case 'unmap':
        return unmap(request.port);
      case 'list':
        return { ok: true, mappings: [...ports.values()].map(shown) };
      case 'ping':
        return { ok: true, pid: process.pid, protocol: PROTOCOL };
    }
  }

  return {
    handle(request) {
      const done = last.then(() => answer(request)).catch(failed);
      last = done;
      return done;
    },
    get size() {
      return ports.size;
    },
    async close() {
      await Promise.all([...ports.values()].map((forwardedPort) => forwardedPort.close()));
      ports.clear();
    },
  };
}

function shown({ mapping, addresses, connections, elsewhere }: ForwardedPort) {
  return { ...mapping, addresses, connections, elsewhere };
}

function described({ listen_port, target_host, target_port, service, branch }: Mapping): string {
  return `localhost:${listen_port} -> ${target_host}:${target_port} (${service} of ${branch})`;
}

function failed(error: unknown): ForwardAnswer {
  return { ok: false, code: nodeErrorCode(error) ?? 'FAILED', error: (error as Error).message };
}
