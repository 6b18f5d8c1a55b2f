import type { LoadedConfig, RemoteDefinition, ServerDefinition } from '../../../config/index.ts';
import { SystemKeychain } from '../../../secrets/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliCommand, Context } from '../command.ts';
import { canShowPages } from '../../common/can-show-pages.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { writeStderr } from '../../kit/stderr.ts';
import { table } from '../../kit/table.ts';
import { selectServer } from './select-servers.ts';
import type { App } from '../../../app/index.ts';

export const authCommand: CliCommand = {
  about: [
    'Opens the login page of a server in your browser, waits until you approve, and saves the login for ' +
      "every gateway on this machine, in the system's keychain or, without one, in a file that only you can read. " +
      'It is renewed automatically for as long as the issuer allows.',
    'The address of the page is also printed; over SSH, or if no browser can be opened, it is only ' +
      'printed. The browser must be able to reach this machine afterwards: over SSH, use the -L option that ' +
      'is printed.',
    'Without a server, lists the remote servers and whether you are logged in, without sending a request.',
    '--logout revokes the login at its issuer, if possible, and deletes it. Other settings (client ID, ' +
      'scope, callback port) go under "oauth" in the server\'s entry.',
  ],
  flags: [
    { name: 'logout', summary: 'log out of the server' },
    { name: 'no-browser', summary: 'print the address instead of opening a browser' },
  ],
  examples: [
    ['$0 auth', 'list logins'],
    ['$0 auth linear', 'log in to the server "linear"'],
    ['$0 auth linear --no-browser', 'without opening a browser'],
    ['$0 auth linear --logout', 'log out'],
    [
      '$0 auth --json | jq -r \'.servers[] | select(.login.kind == "none").name\'',
      'servers you are not logged in to',
    ],
  ],
  exits: [
    [Exit.ok, 'logged in, logged out, or the server needs no login'],
    [Exit.failed, 'not logged in: refused, timed out or not possible'],
  ],
  async run({ words, flags }, context) {
    const [name, ...more] = words;
    if (more.length > 0)
      throw usage('auth takes one server.', `For example: ${context.variant.program} auth ${name}`);
    const config = await context.loadConfig();
    if (name !== undefined) {
      const server = remote(selectServer(config, name));
      const auth = await context.open(config).auth();
      if (flags.has('logout')) return logOut(server, auth, context);
      return logIn(server, auth, context, opensBrowser(flags, context));
    }
    const lonely = ['logout', 'no-browser'].find((flag) => flags.has(flag));
    if (lonely !== undefined)
      throw usage(
        `--${lonely} needs a server.`,
        `For example: ${context.variant.program} auth linear --${lonely}`,
      );
    return overview(config, context);
  },
};

/** Not if the person gets to see the page in another way. */
const opensBrowser = (flags: ReadonlyMap<string, unknown>, context: Context): boolean =>
  context.showPage === undefined && !flags.has('no-browser') && canShowPages(context);

type Auth = Awaited<ReturnType<App['auth']>>;

type RemoteWithLogin = RemoteDefinition & { readonly oauth: Exclude<RemoteDefinition['oauth'], false> };

/** The server, if it supports a login; throws otherwise. */
function remote(server: ServerDefinition): RemoteWithLogin {
  const name = JSON.stringify(server.name);
  if (server.kind === 'builtin') throw usage(`The server ${name} is built in and needs no login.`);
  if (server.kind !== 'remote')
    throw usage(
      `The server ${name} is a local program and needs no login.`,
      'If it needs a token, set it in "env".',
    );
  if (hasOwnHeader(server))
    throw usage(
      `The server ${name} has an Authorization header in its entry, so no login is used.`,
      'Remove that header to log in instead.',
    );
  const { oauth } = server;
  if (oauth === false)
    throw usage(`Logging in to the server ${name} is disabled.`, 'Remove "oauth": false from its entry.');
  return { ...server, oauth };
}

function hasOwnHeader({ headers }: RemoteDefinition): boolean {
  return Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
}

function optionsFor({ name, url, oauth }: RemoteWithLogin, { env, log }: Context) {
  return { server: name, url, oauth, directory: stateDirectory(env), keychain: new SystemKeychain(env), log };
}

/** How long the person may take in the browser, in milliseconds. */
const PATIENCE = 5 * 60_000;

async function logIn(
  server: RemoteWithLogin,
  { login, UnreachableError }: Auth,
  context: Context,
  openBrowser: boolean,
): Promise<CommandOutcome> {
  const name = printableLine(server.name);
  context.status.show(`requesting login details from ${name}`);
  const made = await login({
    ...optionsFor(server, context),
    headers: server.headers,
    openBrowser,
    signal: context.stop,
    timeoutMs: PATIENCE,
    tell: (url, port) => {
      if (context.showPage !== undefined) {
        context.showPage(url, port);
        return;
      }
      context.status.clear();
      writeStderr(invitation(name, url, port, openBrowser));
      context.status.show('waiting for the login in the browser; Ctrl-C cancels');
    },
  }).catch((error: unknown) => {
    if (isOpen(error)) return undefined;
    const isServer = error instanceof UnreachableError && error.origin === new URL(server.url).origin;
    throw isServer && error.refused ? notRunning(server, error) : error;
  });
  if (made === undefined)
    return {
      data: { server: server.name, kind: 'not-needed' },
      text: () => `${name} does not require a login.\n`,
    };
  const { issuer, scope, expiresAt, renewable, dpop } = made;
  const facts = [
    scope === undefined ? undefined : `scope ${printableLine(scope)}`,
    expiresAt === undefined ? undefined : `expires in ${span(expiresAt - Date.now())}`,
    renewable ? 'renewed automatically' : undefined,
    dpop === true ? 'bound to a key' : undefined,
  ].filter((fact) => fact !== undefined);
  return {
    data: { server: server.name, ...loginData({ kind: 'logged-in', ...made }) },
    text: () => `Logged in to ${name} (issuer ${[`${printableLine(issuer)})`, ...facts].join(', ')}.\n`,
  };
}

/** Whether the server answered without a login, which is not a failure. Any other status may be one. */
function isOpen(error: unknown): boolean {
  if (!(error instanceof SwitchboardError) || error.code !== 'AUTH_NOT_ASKED') return false;
  return error.cause instanceof Response && error.cause.ok;
}

/** The message that a call to the server would also get. */
function notRunning({ name, written }: RemoteWithLogin, cause: SwitchboardError): SwitchboardError {
  return new SwitchboardError(
    cause.code,
    `Server '${name}' cannot be reached at ${written.url}: connection refused.`,
    { hint: 'Check that it is running and that its url is right.', cause },
  );
}

/** The address is on its own line so that it can be copied. */
function invitation(name: string, url: string, port: number, opening: boolean): string {
  const here = opening ? 'Your browser should open now; if it does not, log' : 'Log';
  return (
    `${here} in to ${name} here:\n\n  ${printableLine(url)}\n\n` +
    `The browser returns to 127.0.0.1:${port} on this machine` +
    `${opening ? '' : `; from another machine, run first: ssh -L ${port}:127.0.0.1:${port} THIS-MACHINE`}.\n` +
    `Waiting for up to ${span(PATIENCE)}.\n`
  );
}

async function logOut(server: RemoteWithLogin, { logout }: Auth, context: Context): Promise<CommandOutcome> {
  const name = printableLine(server.name);
  context.status.show(`logging out of ${name}`);
  const { removed, revoked, reason } = await logout(optionsFor(server, context), context.stop);
  const untold = removed && !revoked && reason !== undefined;
  return {
    data: { server: server.name, removed, revoked },
    text: () => (removed ? `Logged out of ${name}.\n` : `You were not logged in to ${name}.\n`),
    remark: untold
      ? `The issuer was not notified (${printableLine(reason)}); the deleted token stays valid until it expires.\n`
      : undefined,
  };
}

async function overview(config: LoadedConfig, context: Context): Promise<CommandOutcome> {
  const { loginState } = await context.open(config).auth();
  const servers = config.servers
    .filter((server) => server.kind === 'remote')
    .map((server) => {
      const { name, oauth, written } = server;
      const state: State =
        oauth === false
          ? { kind: 'off' }
          : hasOwnHeader(server)
            ? { kind: 'header' }
            : loginState(optionsFor({ ...server, oauth }, context));
      return { name, url: written.url, state };
    });
  return {
    data: {
      config: config.file ?? null,
      servers: servers.map(({ name, url, state }) => ({ name, url, login: loginData(state) })),
    },
    text: (style) => {
      if (servers.length === 0) return 'No remote server is configured.\n';
      const titles = ['SERVER', 'LOGIN', 'ISSUER', 'ADDRESS'];
      const rows = servers.map(({ name, url, state }) => [
        printableLine(name),
        stateText(state),
        'issuer' in state ? printableLine(state.issuer) : '–',
        printableLine(url),
      ]);
      return table(titles, rows, style.bold, style.columns);
    },
  };
}

/** The state of a login. With `header` and `off`, none is used. */
type State =
  | { readonly kind: 'none' | 'header' | 'off' }
  | {
      readonly kind: 'logged-in' | 'expired';
      readonly issuer: string;
      readonly scope: string | undefined;
      readonly expiresAt: number | undefined;
      readonly renewable: boolean;
      readonly dpop?: boolean | undefined;
    };

/** For `--json`, with ISO dates. */
function loginData(state: State): object {
  if (!('issuer' in state)) return { kind: state.kind };
  const { kind, issuer, scope = null, expiresAt, renewable, dpop = false } = state;
  const ends = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  return { kind, issuer, scope, expiresAt: ends, renewable, dpop };
}

function stateText(state: State): string {
  switch (state.kind) {
    case 'none':
      return 'not logged in';
    case 'header':
      return 'not needed: Authorization header is set';
    case 'off':
      return 'disabled';
    case 'expired':
      return 'expired';
    case 'logged-in': {
      const left = state.expiresAt === undefined ? 0 : state.expiresAt - Date.now();
      return [
        'logged in',
        ...(left > 0 ? [`${span(left)} left`] : []),
        ...(state.renewable ? ['renewed automatically'] : []),
        ...(state.dpop === true ? ['bound to a key'] : []),
      ].join(', ');
    }
  }
}

/** A duration in a suitable unit. */
function span(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
