import { createServer, type Server } from 'node:http';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { Console, readPageFiles, type ConsoleOptions } from '../../../console/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { VERSION } from '../../../shared/version.ts';
import { createConsoleBackend, type ConsoleBackendOptions } from './backend.ts';

export type ConsoleServerOptions = ConsoleBackendOptions & Pick<ConsoleOptions, 'port' | 'access'>;

/** The console of this user, which handles the requests of its pages. */
export function createConsole(options: ConsoleServerOptions): Console {
  const { port, access, readOnly, log } = options;
  let files: ReturnType<typeof readPageFiles> | undefined;
  return new Console({
    version: VERSION,
    readOnly,
    port,
    failed: (error) => log.error('a request of the console failed', { reason: messageOf(error) }),
    ...(access === undefined ? {} : { access }),
    files: () => (files ??= readPageFiles(pageDirectory())),
    backend: (model, tell) => createConsoleBackend(options, model, tell),
  });
}

/** Where the build has put the page, beside the program. */
function pageDirectory(): string {
  return join(dirname(realpathSync(process.argv[1] ?? '')), 'console');
}

export interface ConsoleServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves the console on this machine, on any free port or a given one. */
export async function serveConsole(
  page: Console,
  wanted: number,
  opened: (port: number) => void,
): Promise<ConsoleServer> {
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 60_000 }, (request, response) => {
    response.on('error', () => undefined);
    if (request.url?.startsWith('/console') === true) page.handle(request, response);
    else {
      response.writeHead(request.url === '/' ? 302 : 404, { Location: '/console', 'Content-Length': 0 });
      response.end();
    }
  });
  server.maxConnections = 256;
  await listen(server, wanted);
  const { port } = server.address() as AddressInfo;
  opened(port);
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        page.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(explained(error, port)));
    server.listen(port, '127.0.0.1', () => {
      server.removeAllListeners('error');
      server.on('error', () => undefined);
      resolve();
    });
  });
}

function explained(error: Error, port: number): SwitchboardError {
  if (nodeErrorCode(error) === 'EADDRINUSE')
    return new SwitchboardError('PORT_TAKEN', `Cannot listen on 127.0.0.1:${port}: port already in use.`, {
      hint: 'Choose another port, or leave --port out: any free one is used then.',
      cause: error,
    });
  return new SwitchboardError(
    'ADDRESS_UNUSABLE',
    `Cannot listen on 127.0.0.1:${port}: ${messageOf(error)}.`,
    {
      hint: 'Choose a port of 1024 or above.',
      cause: error,
    },
  );
}
