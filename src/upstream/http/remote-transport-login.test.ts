import { describe, expect, test } from 'vitest';
import type { Login, NotRenewed } from '../login.ts';
import {
  call,
  initialize,
  initializeResult,
  json,
  open,
  openInitialized,
  result,
  serve,
  withoutStream,
  type Handler,
} from './remote-transport.cases.ts';

describe('a login', () => {
  /** Returns the tokens in order, one for each refusal, and `then` after the last. */
  const loginThen = (then: NotRenewed, ...tokens: (string | undefined)[]) => {
    const asked: { refused: string | undefined; challenge: string | undefined }[] = [];
    let current = 0;
    const login: Login = {
      authorization: () => Promise.resolve(tokens[current]),
      proof: () => Promise.resolve(undefined),
      renewed: (refused, challenge) => {
        asked.push({ refused, challenge });
        current = Math.min(current + 1, tokens.length);
        const authorization = tokens[current];
        return Promise.resolve(authorization === undefined ? then : { kind: 'renewed', authorization });
      },
    };
    return { login, asked };
  };
  const loginWith = (...tokens: (string | undefined)[]) => loginThen({ kind: 'person' }, ...tokens);
  const guarded = (valid: string): Handler => {
    const inside = withoutStream((seen, response) => json(response, result(seen.message.id)));
    return (seen, response, request) => {
      if (seen.headers.authorization === valid) inside(seen, response, request);
      else response.writeHead(401, { 'WWW-Authenticate': 'Bearer realm="x"' }).end('no');
    };
  };

  test('is sent, and renewed once when it is refused', async () => {
    const server = await serve(guarded('Bearer good'));
    const { login, asked } = loginWith('Bearer old', 'Bearer good');
    const rig = await openInitialized({ url: server.url, login });
    rig.write(call(2));
    await rig.answer(2);
    expect(asked).toEqual([{ refused: 'Bearer old', challenge: 'Bearer realm="x"' }]);
    expect(rig.failures).toEqual([]);
  });

  test.each([
    [[undefined], "LOGIN_NEEDED: Server 'far' requires a login. Run: switchboard auth far"],
    [['Bearer old'], "LOGIN_NEEDED: Server 'far' no longer accepts the login. Run: switchboard auth far"],
    [
      ['Bearer a', 'Bearer b', 'Bearer c'],
      "LOGIN_NEEDED: Server 'far' no longer accepts the login. Run: switchboard auth far",
    ],
  ])('%j that does not help is a clear error', async (tokens, expected) => {
    const server = await serve(guarded('Bearer good'));
    const { login, asked } = loginWith(...tokens);
    const rig = open({ url: server.url, login });
    rig.write(initialize);
    expect(await rig.sentence(1)).toBe(expected);
    expect(asked).toHaveLength(1);
    expect(server.seen).toHaveLength(Math.min(tokens.length, 2));
  });

  test('that cannot be renewed now fails with the reason and does not ask the user to log in again', async () => {
    const server = await serve(guarded('Bearer good'));
    const reason = 'its issuer https://issuer.example: it responded with status 503';
    const { login } = loginThen({ kind: 'unavailable', reason }, undefined);
    const rig = open({ url: server.url, login });
    rig.write(initialize);
    const sentence = await rig.sentence(1);
    expect(sentence).toMatch(
      /^LOGIN_UNAVAILABLE: Server 'far' requires a login, .*: its issuer https:\/\/issuer/,
    );
    expect(sentence).toContain('status 503. Try again later');
    expect(sentence).not.toContain('switchboard auth');
  });

  test('is made as the hint of the target says', async () => {
    const server = await serve(guarded('Bearer good'));
    const loginHint = "Run: mcp-proxy-server auth 'far away' --config here.json";
    const rig = open({ url: server.url, login: loginWith(undefined).login, loginHint });
    rig.write(initialize);
    expect(await rig.sentence(1)).toBe(`LOGIN_NEEDED: Server 'far' requires a login. ${loginHint}`);
  });

  test('is never shown, even where the server repeats it', async () => {
    const server = await serve((seen, response) =>
      response.writeHead(500).end(`bad token ${seen.headers.authorization} for ${seen.path}`),
    );
    const { login } = loginWith('Bearer t0psecret');
    const rig = open({ url: `${server.url}?key=sesame11`, shown: { url: server.url }, login });
    rig.write(initialize);
    expect(await rig.sentence(1)).toContain(
      "Server 'far' responded with HTTP 500 (bad token *** for /mcp?***)",
    );
  });

  test.each<[NotRenewed, RegExp]>([
    [
      { kind: 'rights', scope: 'files:write\u0007', configured: false },
      /^LOGIN_NEEDED: Server 'far' requires permissions that the login does not have: files:write\\x07\. Run: switchboard auth far$/,
    ],
    [
      { kind: 'rights', scope: undefined, configured: true },
      /^LOGIN_NEEDED: .* permissions that the login does not have\. Add them to "scope" under "oauth".* Run: switchboard auth far$/,
    ],
  ])('that has too few rights is told with those that are missing: %j', async (then, expected) => {
    const challenge = 'Bearer error="insufficient_scope", scope="files:write"';
    const inside = guarded('Bearer renewed');
    const server = await serve((seen, response, request) => {
      if (seen.message?.method !== 'tools/call') inside(seen, response, request);
      else response.writeHead(403, { 'WWW-Authenticate': challenge }).end();
    });
    // Also right after a renewal.
    const { login, asked } = loginThen(then, 'Bearer old', 'Bearer renewed');
    const rig = await openInitialized({ url: server.url, login });
    rig.write(call(2));
    expect(await rig.sentence(2)).toMatch(expected);
    expect(asked.at(-1)).toEqual({ refused: 'Bearer renewed', challenge });
    expect(rig.transport.open).toBe(true);
  });

  test('too small a scope counts as refused, another 403 does not', async () => {
    const server = await serve((seen, response) => {
      if (seen.headers.authorization === 'Bearer wide') json(response, initializeResult);
      else
        response
          .writeHead(
            403,
            seen.path === '/mcp' ? { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' } : {},
          )
          .end();
    });
    const wide = open({ url: server.url, login: loginWith('Bearer narrow', 'Bearer wide').login });
    wide.write(initialize);
    await wide.answer(1);
    const { login, asked } = loginWith('Bearer narrow');
    const other = open({ url: `${server.origin}/other`, login });
    other.write(initialize);
    expect(await other.sentence(1)).toMatch(/^SERVER_ANSWERED_BADLY: .*HTTP 403/);
    expect(asked).toEqual([]);
  });

  test('of the configuration is never replaced, and its refusal says so', async () => {
    const server = await serve(guarded('Bearer good'));
    const { login, asked } = loginWith('Bearer good');
    const rig = open({ url: server.url, headers: { authorization: 'Bearer mine' }, login });
    rig.write(initialize);
    expect(await rig.sentence(1)).toMatch(
      /^LOGIN_NEEDED: Server 'far' rejected the Authorization header from the configuration \(HTTP 401\)\./,
    );
    expect(asked).toEqual([]);
  });

  test('by user name and password is called that, and the password is not shown', async () => {
    const server = await serve((seen, response) => {
      if (seen.path === '/mcp') response.writeHead(401).end();
      else response.writeHead(500).end('no such password: hunter22');
    });
    const headers = { Authorization: `Basic ${Buffer.from('me:hunter22').toString('base64')}` };
    const refused = open({ url: server.url, headers });
    refused.write(initialize);
    expect(await refused.sentence(1)).toMatch(
      /^LOGIN_NEEDED: Server 'far' rejected the user name and password from the configuration \(HTTP 401\)\./,
    );
    const repeated = open({ url: `${server.origin}/other`, headers });
    repeated.write(initialize);
    expect(await repeated.sentence(1)).toContain('(no such password: ***)');
  });
});
