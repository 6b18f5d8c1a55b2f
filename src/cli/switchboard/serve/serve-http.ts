import { isatty } from 'node:tty';
import { isIP } from 'node:net';
import type { App } from '../../../app/index.ts';
import { createHttpConsole } from './http-console.ts';
import type { LoadedConfig } from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { httpBanner } from './http-banner.ts';
import type { CliVariant, ListenSettings } from '../variants.ts';
import { httpToken, TOKEN_VARIABLE } from './http-token.ts';
import { HttpTokens } from './http-tokens.ts';
import { SharedTokens } from './shared-tokens.ts';
import type { Store } from '../../../store/index.ts';
import { tokenFile } from '../token/token-file.ts';
import { writeOutcome } from '../../kit/output.ts';
import type { Reloader } from './reloader.ts';
import { configIdentity } from '../gateway/state-file.ts';
import { gatewayAt } from '../gateway/running-gateways.ts';
import { onStop, timeLeftAfter } from '../../kit/signals.ts';
import { gatewayText } from '../gateway/notify-gateways.ts';

export interface HttpServeRequest {
  /** `[HOST:]PORT`; empty for the default. */
  readonly address: string;
  /** The flag or variable that contains the address. */
  readonly from: string;
  /** Whether other machines may reach it. */
  readonly allowRemote: boolean;
  /** Whether the token is shown although it is not new. */
  readonly showToken: boolean;
  readonly json: boolean;
  /** Whether to serve on stdin and stdout as well. */
  readonly stdio: boolean;
}

/** Serves every client that connects, until a signal arrives. Returns the exit code. */
export async function serveHttp(
  request: HttpServeRequest,
  {
    app,
    log,
    config,
    variant,
    reloader,
    store,
    opened,
  }: {
    readonly app: App;
    readonly log: Logger;
    readonly config: LoadedConfig;
    readonly variant: CliVariant;
    readonly reloader: Reloader;
    readonly store: Store | undefined;
    /** Called with the address when clients can connect. Default: not called. */
    readonly opened: ((url: string, consoleLink: (() => string) | undefined) => void) | undefined;
  },
): Promise<number> {
  const { env } = process;
  if (variant.listens === undefined)
    throw usage(
      `${variant.program} serves only the host that starts it.`,
      'Use switchboard --http to serve clients over HTTP.',
    );
  if (request.stdio) throw usage('--stdio and --http cannot be combined.', 'Remove one of them.');
  const { host, port } = readHttpAddress(request.address, request.from);
  if (!isLoopback(host) && !request.allowRemote)
    throw usage(
      `Listening on ${JSON.stringify(host)} lets other machines connect, which needs --allow-remote.`,
      'Add --allow-remote and put a TLS proxy in front, or use 127.0.0.1.',
    );
  if (ANY_ADDRESS.has(host) && config.settings.http.allowedHosts.length === 0)
    throw usage(
      `The host names that clients use for ${host} are not known.`,
      'Set http.allowedHosts in the configuration to those names or addresses, or listen on one address.',
    );
  const token = await httpToken(config, env);
  if (!isLoopback(host) && token.from === 'file' && config.settings.http.oauth === undefined)
    throw new SwitchboardError('TOKEN_NEEDED', 'To let other machines connect, you must set a token.', {
      hint: `Set http.token in the configuration, or ${TOKEN_VARIABLE}, or set up an identity provider with http.oauth.`,
    });
  const tokens =
    store === undefined
      ? new HttpTokens(token.token, tokenFile(env), log)
      : await SharedTokens.open(token.token, store, log);
  const stopped = onStop(() => app.killNow(), log, reloader.reload);
  let emptied = (): void => undefined;
  const empty = new Promise<'empty'>((resolve) => {
    emptied = () => resolve('empty');
  });
  // As documented for the coordinator: it stops with its last client, unless configured to stay.
  const goesWithLast = endsWithLast(variant.listens, log, env);
  const { console: mode } = config.settings.http;
  const page =
    mode === 'off'
      ? undefined
      : createHttpConsole({ env, variant, log, readOnly: mode === 'read-only', port: () => door.port });
  const door: Awaited<ReturnType<App['openHttp']>> = await app
    .openHttp({
      ...{ host, port, tokens, sharedToken: token.from === 'file' ? undefined : token.token },
      ...(page === undefined ? {} : { page: page.handle }),
      ...(goesWithLast ? { emptied } : {}),
    })
    .catch((error: unknown) => {
      throw withOwner(error, { host, port }, config, env);
    });
  log.info('listening', { host, port: door.port });
  const consoleLink = page && (() => new URL(page.newLink(), door.url).href);
  opened?.(door.url, consoleLink);
  const { showToken, json } = request;
  const said = httpBanner({
    url: door.url,
    token,
    showToken,
    config,
    variant,
    goesWithLast,
    consoleLink,
    isTerminal: isatty(1),
  });
  await writeOutcome(said, json);
  const why = await Promise.race([stopped, empty]);
  reloader.stop();
  const since = performance.now();
  log.info('stopping', { why, sessions: door.sessions });
  await door.drain(Math.min(config.settings.timeouts.drainMs, timeLeftAfter(why)));
  page?.close();
  await Promise.all([door.close(), app.close(performance.now() - since)]);
  return 0;
}

/** Stand for all addresses of the machine; no client would send one of them. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

function endsWithLast({ stayVariable }: ListenSettings, log: Logger, env: NodeJS.ProcessEnv): boolean {
  if (stayVariable === undefined) return false;
  const given = env[stayVariable];
  if (given === '1') return false;
  if (given !== undefined && given !== '' && given !== '0')
    log.warn(
      `${stayVariable} is neither 1 nor 0 and is read as 0: it stops when its last client disconnects`,
    );
  return true;
}

function killCommand(pid: number): string {
  return process.platform === 'win32' ? `taskkill /F /T /PID ${pid}` : `kill ${pid}`;
}

/** If a gateway of the same user has the port, it may be the very one that the user wants. */
function withOwner(
  error: unknown,
  { host, port }: HttpAddress,
  config: LoadedConfig,
  env: NodeJS.ProcessEnv,
): unknown {
  if (!(error instanceof SwitchboardError) || error.code !== 'PORT_TAKEN') return error;
  const owner = gatewayAt(stateDirectory(env), port, (name) => {
    return name === host || (isLoopback(name) && (isLoopback(host) || ANY_ADDRESS.has(host)));
  });
  if (owner?.url === undefined) return error;
  const subject = printableLine(owner.config);
  const next =
    owner.config === configIdentity(config)
      ? `It serves the same configuration at ${printableLine(owner.url)}: use it`
      : `It serves ${subject}: stop it (${killCommand(owner.pid)})`;
  return new SwitchboardError(
    'PORT_TAKEN',
    `Port ${port} is already in use by another gateway (${gatewayText(owner)}).`,
    { hint: `${next}, or choose another port; 0 picks a free one.`, cause: error },
  );
}

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

/** The default port of `--http`. */
const USUAL_PORT = 3006;
const USUAL_HOST = '127.0.0.1';

/** Parses `[HOST:]PORT`; empty means the default. Throws USAGE. */
export function readHttpAddress(text: string, flag = '--http'): HttpAddress {
  if (text === '') return { host: USUAL_HOST, port: USUAL_PORT };
  const between = flag.startsWith('-') ? ' ' : '=';
  const example = (address: string): string => `${flag}${between}${address}`;
  const advice = `For example: ${example('3006')} or ${example('127.0.0.1:3006')}; 0 picks a free port.`;
  const scheme = /^https?:\/\//i.exec(text)?.[0];
  if (scheme !== undefined) {
    const rest = text.slice(scheme.length).replace(/\/.*$/s, '');
    throw usage(
      `${flag} takes the address without ${JSON.stringify(scheme)}.`,
      `Write ${example(rest || '3006')}.`,
    );
  }
  const [, inBrackets, behind = ''] = /^\[([^\]]*)\]:(.*)$/.exec(text) ?? [];
  const colon = text.lastIndexOf(':');
  const [host, port] =
    inBrackets !== undefined
      ? [inBrackets, behind]
      : colon === -1
        ? [USUAL_HOST, text]
        : [text.slice(0, colon), text.slice(colon + 1)];
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw usage(`${flag} needs a port from 0 to 65535.`, advice);
  if (host === '' || (inBrackets === undefined && host.includes(':')))
    throw usage(
      `${flag} has an invalid host in ${JSON.stringify(text)}.`,
      'Put an IPv6 address in brackets: [::1]:3006.',
    );
  return { host, port: Number(port) };
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
