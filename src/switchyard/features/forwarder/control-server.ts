import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Home } from '../../records/state/home.ts';
import { controlSocket, makeControlDirectory, readLines } from './control-socket.ts';
import { parseRequest, type ForwardAnswer, type ForwardRequest } from './protocol.ts';

export interface ControlServer {
  /** Accepts no more requests; responses already written still arrive. */
  close(): Promise<void>;
}

/**
 * Accepts requests on the control socket of a home. The caller must be the only forwarder of the home, so an existing
 * socket was left behind by one that died.
 */
export async function listenForControl(
  home: Home,
  answer: (request: ForwardRequest) => Promise<ForwardAnswer>,
): Promise<ControlServer> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => client.destroy());
    readLines(client, (line) => {
      void reply(line, answer).then((text) => {
        if (client.writable) client.write(`${JSON.stringify(text)}\n`);
      });
    });
  });
  makeControlDirectory(home);
  const path = controlSocket(home);
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  // For example too many open files: the next request may succeed.
  server.on('error', () => undefined);
  return {
    async close() {
      // Node also removes the socket file.
      const closed = new Promise((resolve) => server.close(resolve));
      for (const client of clients) client.destroySoon();
      await closed;
    },
  };
}

async function reply(
  line: string,
  answer: (request: ForwardRequest) => Promise<ForwardAnswer>,
): Promise<ForwardAnswer> {
  let request: ForwardRequest;
  try {
    request = parseRequest(line);
  } catch (error) {
    return { ok: false, code: 'BAD_REQUEST', error: (error as Error).message };
  }
  return answer(request);
}
