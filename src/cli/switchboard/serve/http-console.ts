import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConsoleAccess, type Console } from '../../../console/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { ConsoleServerOptions } from '../console/console-server.ts';

/** The console at an HTTP door. */
export interface HttpConsole {
  /** Handles a request for the console, or from a browser that looks for it. Returns whether it did. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, admit: () => void) => boolean;
  /** The path and query of a link that logs one browser in. */
  readonly newLink: () => string;
  readonly close: () => void;
}

/**
 * Creates the console at an HTTP door. Its code is loaded with the first request, because most gateways never get one.
 */
export function createHttpConsole(options: Omit<ConsoleServerOptions, 'runQuietly'>): HttpConsole {
  const access = new ConsoleAccess();
  let loading: Promise<Console> | undefined;
  let page: Console | undefined;
  const load = async (): Promise<Console> => {
    const [{ createConsole }, { runQuietly }] = await Promise.all([
      import('../console/console-server.ts'),
      import('../run-command.ts'),
    ]);
    return (page = createConsole({ ...options, access, runQuietly }));
  };
  return {
    handle(request, response, admit) {
      const { url = '', method, headers } = request;
      const [path = ''] = url.split('?', 1);
      if (path === '/' && method === 'GET' && headers.accept?.includes('text/html') === true) {
        sendWelcome(response);
        return true;
      }
      if (path !== '/console' && !path.startsWith('/console/')) return false;
      loading ??= load();
      loading.then(
        (loaded) => loaded.handle(request, response, admit),
        (error: unknown) => {
          options.log.error('the console could not be loaded', { reason: messageOf(error) });
          response.writeHead(500).end();
        },
      );
      return true;
    },
    newLink: () => `/console?link=${access.newLink()}`,
    close: () => page?.close(),
  };
}

/** Shown to a person who opens the address of the gateway in a browser. */
function sendWelcome(response: ServerResponse): void {
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Switchboard</title><h1>Switchboard</h1>' +
      '<p>This is an MCP gateway. Programs connect to <code>/mcp</code>.</p>' +
      '<p>To look at it, open the <a href="/console">console</a>.</p></html>\n',
  );
}
