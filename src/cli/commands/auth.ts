import { loadAuth } from '../../app.ts';
import type { LoadedConfig, RemoteDefinition, ServerDefinition } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { stateDirectory } from '../../shared/paths.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage } from '../arguments.ts';
import type { CliCommand, Context, CommandOutcome } from '../command.ts';
import { canShowPages } from '../browser.ts';
import { Exit } from '../failure.ts';
import { writeStderr } from '../stderr.ts';
import { selectServers } from '../probe-servers.ts';
import { table } from '../table.ts';

export const authCommand: CliCommand = {
  name: 'auth',
  words: '[server]',
  summary: 'log in to a remote server, or out again',
  about: [
    'Opens the page in your browser where the server lets you log in, waits until you have agreed there, and keeps the ' +
      'login for every gateway on this machine, in a file that only you can read. It is renewed by itself for as long ' +
      'as its issuer allows. The address of the page is printed too, for machines without a browser: the browser must ' +
      'then be able to come back to this machine (over SSH, with the -L that is printed). Over SSH, and where no browser ' +
      'can be opened, only the address is printed.',
    'Without a server it lists the remote servers and whether you are logged in. It makes no requests.',
    '--logout takes the login back at its issuer, where that is possible, and deletes it here. What a server needs ' +
      'beyond that (a client id, a scope, a port for the browser to come back to) goes under "oauth" in its entry.',
  ],
  flags: [
    { name: 'logout', summary: 'log out of the server' },
    { name: 'no-browser', summary: 'only print the address, open nothing' },
  ],
  examples: [
    ['$0 auth', 'list logins'],
    ['$0 auth linear', 'log in to the server "linear"'],
    ['$0 auth linear --no-browser', 'the same from a machine without a browser'],
    ['$0 auth linear --logout', 'log out'],
    [
      '$0 auth --json | jq -r \'.servers[] | select(.login.kind == "none").name\'',
      'where you are not logged in',
    ],
  ],
  exits: [
    [Exit.ok, 'you are logged in, or out; or the server needs no login'],
    [Exit.failed, 'there is no login now: it was refused, it took too long, or it cannot be had'],
  ],
  async run({ words, flags }, context) {
    const [name, ...more] = words;
    if (more.length > 0)
      throw usage('auth takes one server.', `For example: ${context.variant.program} auth ${name}`);
    const config = await context.loadConfig();
    if (name !== undefined) {
      const server = remote(selectServers(config, [name])[0]!);
      if (flags.has('logout')) return logOut(server, context);
      return logIn(server, context, !flags.has('no-browser') && canShowPages(context));
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

type RemoteWithLogin = RemoteDefinition & { readonly oauth: Exclude<RemoteDefinition['oauth'], false> };

/** The server if there is a login for it; throws otherwise. */
function remote(server: ServerDefinition): RemoteWithLogin {
  const name = JSON.stringify(server.name);
  if (server.kind === 'builtin') throw usage(`The server ${name} is built in and needs no login.`);
  if (server.kind !== 'remote')
    throw usage(
      `The server ${name} is a local program and needs no login.`,
      'What it needs to know, give it in "env".',
    );
  if (hasOwnHeader(server))
    throw usage(
      `The server ${name} gets an Authorization header from its entry, so no login is used.`,
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
  return { server: name, url, oauth, directory: stateDirectory(env), log };
}

/** How long the person may take in the browser, in milliseconds. */
const PATIENCE = 5 * 60_000;

async function logIn(
  server: RemoteWithLogin,
  context: Context,
  openBrowser: boolean,
): Promise<CommandOutcome> {
  const { login } = await loadAuth();
  const name = printableLine(server.name);
  context.status.show(`asking ${name} where to log in`);
  const made = await login({
    ...optionsFor(server, context),
    headers: server.headers,
    openBrowser,
    signal: context.stop,
    timeoutMs: PATIENCE,
    tell: (url, port) => {
      context.status.clear();
      writeStderr(invitation(name, url, port, openBrowser));
      context.status.show('waiting for you to log in in the browser; Ctrl-C stops');
    },
  }).catch((error: unknown) => {
    if (isOpen(error)) return undefined;
    throw inPlainWords(error, server);
  });
  if (made === undefined)
    return {
      exitCode: Exit.ok,
      data: { server: server.name, kind: 'not-needed' },
      text: () => `${name} asks for no login. It can be used as it is.\n`,
    };
  const { issuer, scope, expiresAt, renewable } = made;
  const facts = [
    scope === undefined ? undefined : `scope ${printableLine(scope)}`,
    expiresAt === undefined ? undefined : `expires in ${span(expiresAt - Date.now())}`,
    renewable ? 'renewed by itself' : undefined,
  ].filter((fact) => fact !== undefined);
  return {
    exitCode: Exit.ok,
    data: { server: server.name, ...loginData({ kind: 'logged-in', issuer, scope, expiresAt, renewable }) },
    text: () => `Logged in to ${name} (issuer ${[`${printableLine(issuer)})`, ...facts].join(', ')}.\n`,
  };
}

/** Whether the server has let us in without a login, which is no failure. Any other status may be one. */
function isOpen(error: unknown): boolean {
  if (!(error instanceof SwitchboardError)) return false;
  return error.code === 'AUTH_NOT_ASKED' && /\bstatus 2\d\d\b/.test(error.message);
}

/** A server that is not running gets the same message as when it is called. */
function inPlainWords(error: unknown, { name, url, written }: RemoteWithLogin): unknown {
  if (!(error instanceof SwitchboardError) || error.code !== 'AUTH_UNREACHABLE') return error;
  if (!error.message.endsWith(': ECONNREFUSED.')) return error;
  if (error.message.startsWith(`Request to ${new URL(url).origin}/`))
    return new SwitchboardError(
      error.code,
      `Server '${name}' cannot be reached at ${written.url}: connection refused.`,
      { hint: 'Check that it is running and that its url is right.', cause: error },
    );
  const message = error.message.replace('ECONNREFUSED', 'connection refused');
  return new SwitchboardError(error.code, message, { hint: error.hint, cause: error });
}

/** The address stands on a line of its own, to be copied. */
function invitation(name: string, url: string, port: number, opening: boolean): string {
  const here = opening ? 'Your browser should open now; if it does not, log' : 'Log';
  return (
    `${here} in to ${name} here:\n\n  ${printableLine(url)}\n\n` +
    `The browser comes back to 127.0.0.1:${port} on this machine` +
    `${opening ? '' : `; from elsewhere, first: ssh -L ${port}:127.0.0.1:${port} THIS-MACHINE`}.\n` +
    `This command waits ${span(PATIENCE)} for that.\n`
  );
}

async function logOut(server: RemoteWithLogin, context: Context): Promise<CommandOutcome> {
  const { logout } = await loadAuth();
  const name = printableLine(server.name);
  context.status.show(`logging out of ${name}`);
  const { removed, revoked, reason } = await logout(optionsFor(server, context), context.stop);
  const untold = removed && !revoked && reason !== undefined;
  return {
    exitCode: Exit.ok,
    data: { server: server.name, removed, revoked },
    text: () => (removed ? `Logged out of ${name}.\n` : `There was no login to ${name}.\n`),
    remark: untold
      ? `The issuer was not notified (${printableLine(reason)}); the token deleted here expires by itself.\n`
      : undefined,
  };
}

async function overview(config: LoadedConfig, context: Context): Promise<CommandOutcome> {
  const { loginState } = await loadAuth();
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
    exitCode: Exit.ok,
    data: {
      config: config.file ?? null,
      servers: servers.map(({ name, url, state }) => ({ name, url, login: loginData(state) })),
    },
    text: (style) => {
      if (servers.length === 0) return 'No remote server is configured: none has a "url".\n';
      const titles = ['SERVER', 'LOGIN', 'ISSUER', 'ADDRESS'];
      const rows = servers.map(({ name, url, state }) => [
        printableLine(name),
        stateText(state),
        'issuer' in state ? printableLine(state.issuer) : '–',
        printableLine(url),
      ]);
      return table(
        titles.map((title) => ({ title })),
        rows,
        style.bold,
        style.columns,
      );
    },
  };
}

/** How a login stands; `header` and `off`: none is used. */
type State =
  | { readonly kind: 'none' | 'header' | 'off' }
  | {
      readonly kind: 'logged-in' | 'expired';
      readonly issuer: string;
      readonly scope: string | undefined;
      readonly expiresAt: number | undefined;
      readonly renewable: boolean;
    };

/** For `--json`; dates are ISO dates. */
function loginData(state: State): object {
  if (!('issuer' in state)) return { kind: state.kind };
  const { kind, issuer, scope = null, expiresAt, renewable } = state;
  const ends = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  return { kind, issuer, scope, expiresAt: ends, renewable };
}

function stateText(state: State): string {
  switch (state.kind) {
    case 'none':
      return 'not logged in';
    case 'header':
      return 'not needed: it has a header of its own';
    case 'off':
      return 'turned off';
    case 'expired':
      return 'expired';
    case 'logged-in': {
      const left = state.expiresAt === undefined ? 0 : state.expiresAt - Date.now();
      return [
        'logged in',
        ...(left > 0 ? [`${span(left)} left`] : []),
        ...(state.renewable ? ['renewed by itself'] : []),
      ].join(', ');
    }
  }
}

/** A length of time in the unit that suits it. */
function span(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
