import type { App } from '../app.ts';
import type { LoadedConfig } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { usage } from './arguments.ts';
import { clientEntries } from './client-entries.ts';
import type { CliFace } from './face.ts';
import { isLoopback, readHttpAddress } from './http-address.ts';
import { httpToken, TOKEN_VARIABLE, type HttpToken } from './http-token.ts';
import { writeOutcome } from './output.ts';
import type { Reloader } from './reloader.ts';
import { onStop } from './stop.ts';

export interface HttpRequest {
  /** `[HOST:]PORT`; empty for the usual one. */
  readonly address: string;
  /** The flag or variable that the address is from. */
  readonly from: string;
  /** Whether it may be reached from other machines. */
  readonly allowRemote: boolean;
  /** Whether the token is printed though it is not new. */
  readonly showToken: boolean;
  readonly json: boolean;
  /** Whether serving on stdin and stdout was asked for as well. */
  readonly stdio: boolean;
}

/** Serves every client that connects, until a signal comes. Returns the exit code. */
export async function serveHttp(
  request: HttpRequest,
  {
    app,
    log,
    config,
    face,
    reloader,
  }: {
    readonly app: App;
    readonly log: Logger;
    readonly config: LoadedConfig;
    readonly face: CliFace;
    readonly reloader: Reloader;
  },
): Promise<number> {
  const { env } = process;
  if (face.listens === undefined)
    throw usage(
      `${face.program} serves only the host that starts it.`,
      'switchboard --http serves clients that connect.',
    );
  if (request.stdio) throw usage('--stdio and --http exclude each other.', 'Leave one of them out.');
  const { host, port } = readHttpAddress(request.address, request.from);
  if (!isLoopback(host) && !request.allowRemote)
    throw usage(
      `${face.program} listens on this machine only, not on ${JSON.stringify(host)}.`,
      'Add --allow-remote if other machines are meant to reach it, and put TLS in front of it.',
    );
  if (ANY_ADDRESS.has(host) && config.settings.http.allowedHosts.length === 0)
    throw usage(
      `Nobody knows by which name clients reach ${host}.`,
      'Set http.allowedHosts in the configuration to the names or addresses they use, or listen on one address.',
    );
  const token = await httpToken(config, env);
  if (!isLoopback(host) && token.from === 'file')
    throw new SwitchboardError('TOKEN_NEEDED', 'Other machines are let in only with a token of your own.', {
      hint: `Set http.token in the configuration, or ${TOKEN_VARIABLE}.`,
    });
  const stopped = onStop(() => app.killNow(), log, reloader.reload);
  let emptied = (): void => undefined;
  const empty = new Promise<'empty'>((resolve) => {
    emptied = () => resolve('empty');
  });
  // As the documents of the coordinator have it: it goes with its last client, unless it is told to stay.
  const stay = face.listens.stayVariable;
  const goesWithLast = stay !== undefined && env[stay] !== '1';
  const door = await app.openHttp({
    host,
    port,
    token: token.token,
    ...(goesWithLast ? { emptied } : {}),
  });
  log.info('listening', { host, port: door.port });
  await announce(door.url, token, request, face);
  const why = await Promise.race([stopped, empty]);
  reloader.stop();
  const since = performance.now();
  log.info('stopping', { why, sessions: door.sessions });
  await door.drain(config.settings.timeouts.drainMs);
  await Promise.all([door.close(), app.close(performance.now() - since)]);
  return 0;
}

/** All addresses of the machine: none that a client could write. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

async function announce(
  url: string,
  { token, from, file, made }: HttpToken,
  request: HttpRequest,
  face: CliFace,
): Promise<void> {
  // Printed once, when it is made; after that only where somebody asks for it.
  const shown = made || request.showToken ? token : undefined;
  const entries = clientEntries(face.program, url, shown ?? '<token>', TOKEN_VARIABLE);
  const sse = new URL('/sse', url).href;
  const source =
    from === 'config'
      ? 'http.token of the configuration'
      : from === 'environment'
        ? TOKEN_VARIABLE
        : `${file ?? ''}${made ? ', made just now' : ''}`;
  const lines = [
    `${face.program} serves MCP at ${url}`,
    `  older clients: ${sse}`,
    `  token: ${source}${shown === undefined ? ' (--show-token puts it into the entries below)' : ''}`,
    ...entries.flatMap(({ host, where, text }) => [
      '',
      `${host} (${where}):`,
      ...text.split('\n').map((line) => `  ${line}`),
    ]),
    '',
  ];
  const data = {
    url,
    sse,
    health: new URL('/healthz', url).href,
    pid: process.pid,
    token: { from, file: file ?? null, ...(shown === undefined ? {} : { value: shown }) },
    entries,
  };
  await writeOutcome({ exitCode: 0, data, text: () => `${lines.join('\n')}\n` }, request.json);
}
