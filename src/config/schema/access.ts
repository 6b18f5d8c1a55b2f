/** Who may connect over HTTP, and what each may do. */
import { z } from 'zod';
import { SIGNATURE_ALGORITHMS } from '../../shared/signature-algorithms.ts';
import { DEFAULTS } from '../defaults.ts';
import { milliseconds, nonEmptyText, textList, wholeNumber, yesOrNo } from './primitives.ts';

const webAddress = (message: string) =>
  z.string({ error: message }).regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/u, { error: message });

const scope = z
  .string({ error: 'must be a string' })
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/u, { error: 'must be a scope, without spaces and quotes' });

export const httpOAuth = z
  .strictObject({
    issuer: webAddress('must be the address of the issuer, such as "https://id.example.com"').describe(
      'The identity provider whose tokens are accepted, exactly as its metadata names it.',
    ),
    resource: webAddress('must be the address that clients use, such as "https://mcp.example.com/mcp"')
      .optional()
      .describe('The address that clients use for this gateway. Default: the one it listens on.'),
    audience: z
      .array(nonEmptyText(), { error: 'must be a list of audiences' })
      .optional()
      .describe('Accepted values of the claim "aud"; one must match. Default: the resource.'),
    scopes: z
      .array(scope, { error: 'must be a list of scopes' })
      .default([])
      .describe('Scopes that every token must have.'),
    algorithms: z
      .array(z.enum(SIGNATURE_ALGORITHMS), { error: 'must be a list of algorithms' })
      .optional()
      .describe('Accepted signature algorithms. Default: all asymmetric ones.'),
    jwksUri: webAddress('must be an address')
      .optional()
      .describe("Address of the issuer's keys. Default: as its metadata says."),
    principalClaim: nonEmptyText()
      .default(DEFAULTS.oauth.principalClaim)
      .describe('The claim that tells users apart.'),
    clockToleranceMs: wholeNumber(' of milliseconds', 0, 600_000)
      .default(DEFAULTS.oauth.clockToleranceMs)
      .describe('By how much clocks may differ, in milliseconds.'),
    introspection: z
      .strictObject({
        clientId: nonEmptyText().describe('The client ID of this gateway at the issuer.'),
        clientSecret: nonEmptyText().describe('Its secret; better as ${NAME} or ${secret:NAME}.'),
        endpoint: webAddress('must be an address')
          .optional()
          .describe("Address of the introspection endpoint. Default: as the issuer's metadata says."),
        cacheMs: milliseconds()
          .default(DEFAULTS.oauth.introspectionCacheMs)
          .describe(
            'How long a response is cached, in milliseconds; a revoked token works no longer than that.',
          ),
      })
      .optional()
      .describe(
        'Ask the issuer about each token (RFC 7662) instead of checking signatures. Default: do not.',
      ),
    dpop: z
      .enum(['optional', 'required'], { error: 'must be "optional" or "required"' })
      .default('optional')
      .describe('"required": accept only tokens that are bound to a key of the client (RFC 9449).'),
  })
  .describe('Accept the tokens of an identity provider (OAuth 2.1).');

const pattern = (what: string) => z.array(nonEmptyText(), { error: `must be a list of patterns of ${what}` });

const limits = z
  .strictObject({
    callsPerMinute: wholeNumber('', 1, 1_000_000)
      .optional()
      .describe('Tool calls per minute. Default: no limit.'),
    concurrentCalls: wholeNumber('', 1, 100_000)
      .optional()
      .describe('Concurrent tool calls. Default: no limit.'),
    resultBytes: wholeNumber(' of bytes', 1024, 268_435_456)
      .optional()
      .describe('Maximum size of a result, in bytes; a longer one is an error. Default: no limit.'),
  })
  .describe('Limits for each principal. With several roles, the highest of each limit applies.');

const role = z.strictObject({
  match: z
    .union(
      [
        z.literal('everyone'),
        z.strictObject({
          claims: z
            .record(
              z.string(),
              z.union([nonEmptyText(), textList], { error: 'must be a value or a list of values' }),
              {
                error: 'must be an object of values by claim',
              },
            )
            .optional()
            .describe(
              'Claims of the token, each with a pattern or several; all claims must match. ' +
                '"a.b" is the member b of the claim a.',
            ),
          tokens: textList
            .optional()
            .describe(
              'Names of access tokens (`switchboard token`); "http.token" is the one of the gateway.',
            ),
        }),
      ],
      { error: 'must be "everyone" or {"claims", "tokens"}' },
    )
    .describe('Who has this role: "everyone", or those with certain claims or access tokens.'),
  servers: pattern('servers').describe('Servers that may be used; a leading ! excludes.'),
  tools: pattern('tools')
    .default(['*'])
    .describe("Tools of these servers, by the server's own names; a leading ! excludes."),
  resources: pattern('resources')
    .default(['*'])
    .describe('Resources of these servers, by URI; a leading ! excludes.'),
  prompts: pattern('prompts').default(['*']).describe('Prompts of these servers; a leading ! excludes.'),
  management: yesOrNo
    .default(false)
    .describe('Whether the tools that add and remove servers are offered, where "management" turns them on.'),
  limits: limits.optional(),
});

export const roles = z
  .record(z.string(), role, { error: 'must be an object of roles by name' })
  .describe(
    'Roles of HTTP clients: what each may see and call. Without roles, every client may use everything; with roles, ' +
      'a client that matches none may use nothing.',
  );
