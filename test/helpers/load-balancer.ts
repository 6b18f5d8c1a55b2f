import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atTestEnd } from './cleanup.ts';

/** Passes each request to the next of its targets, in turn, whatever session it is for. */
export class LoadBalancer {
  /** The URLs of gateways. */
  targets: readonly string[] = [];
  readonly url: string;
  #next = 0;

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}/mcp`;
  }

  static async start(): Promise<LoadBalancer> {
    const server = createServer((request, response) => {
      const { hostname, port } = new URL(balancer.#target());
      const passed = httpRequest(
        { hostname, port, path: request.url, method: request.method, headers: request.headers, agent: false },
        (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          response.flushHeaders();
          answer.pipe(response);
        },
      );
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      request.pipe(passed);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const balancer = new LoadBalancer((server.address() as AddressInfo).port);
    atTestEnd(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return balancer;
  }

  #target(): string {
    return this.targets[this.#next++ % this.targets.length]!;
  }
}
