import { isDeepStrictEqual } from 'node:util';
import type { ConfiguredServer, OAuthSettings } from './definition.ts';
import type { Pattern, ToolSettings } from './tool-settings.ts';

/**
 * Determines what changed between two definitions of a server: `process` requires a restart, `presentation` only
 * affects what clients see, `same` is no change. The place of the definition does not matter.
 */
export function compareServers(
  before: ConfiguredServer,
  after: ConfiguredServer,
): 'same' | 'presentation' | 'process' {
  if (!isDeepStrictEqual(processOf(before), processOf(after))) return 'process';
  return isDeepStrictEqual(presentationOf(before), presentationOf(after)) ? 'same' : 'presentation';
}

// Arrays instead of objects, because a missing member and an undefined one mean the same.

function processOf(server: ConfiguredServer): unknown[] {
  const { kind, name, isolation, timeouts } = server;
  // The idle time can be changed while the server runs, and the drain time does not affect it.
  const limits = { ...timeouts, idleMs: 0, drainMs: 0 };
  // The source asks before it forwards a call, and checks the tools it lists.
  const { which, tools, atLeast } = server.approval ?? {};
  const trust = [which, tools, atLeast?.which, atLeast?.tools, server.pin ?? 'warn'];
  return [
    kind,
    name,
    isolation,
    limits,
    ...trust,
    ...languageSettings(server),
    ...connectionSettings(server),
  ];
}

/**
 * The language model in front of the server, and what it depends on: the tools it may use, and the purpose of the
 * server.
 */
function languageSettings({ language, tools, description, claude }: ConfiguredServer): unknown[] {
  if (language === undefined) return [];
  const { model, provider, baseUrl, apiKey, instructions, instructionsFile } = language;
  const { allowDestructive, maxSteps, maxTokens, timeoutMs } = language;
  return [
    ...[model, provider, baseUrl, apiKey, instructions, instructionsFile],
    ...[allowDestructive, maxSteps, maxTokens, timeoutMs],
    ...[description, claude, ...toolsOf(tools)],
  ];
}

/** How the server is reached: everything in its definition that may affect what it offers. */
export function connectionSettings(server: ConfiguredServer): unknown[] {
  if (server.kind === 'remote') {
    const { transport, url, headers, oauth } = server;
    return [transport, url, headers, ...(oauth === false ? [false] : loginOf(oauth))];
  }
  if (server.kind === 'unusable') return [server.reason, server.nextStep];
  if (server.kind === 'builtin') return [server.builtin, server.project, server.named, server.directory];
  const { command, args, cwd, env, inheritEnv, framing, sandbox } = server;
  return [command, args, cwd, env, inheritEnv, framing, ...(sandbox === undefined ? [] : [sandbox])];
}

function loginOf({
  clientId,
  clientSecret,
  clientMetadataUrl,
  scope,
  callbackPort,
  dpop,
  ...service
}: OAuthSettings): unknown[] {
  return [clientId, clientSecret, clientMetadataUrl, scope, callbackPort, dpop, ...serviceLoginOf(service)];
}

/** Empty if a person logs in. */
function serviceLoginOf({
  grant,
  issuer,
  privateKey,
  keyAlgorithm,
  keyId,
  assertion,
  identityProvider: provider,
}: OAuthSettings): unknown[] {
  if (grant === undefined) return [];
  const exchange = [provider?.tokenEndpoint, provider?.clientId, provider?.clientSecret];
  return [grant, issuer, privateKey, keyAlgorithm, keyId, assertion, ...exchange];
}

function presentationOf(server: ConfiguredServer): unknown[] {
  const { description, switchboardDescription, exposure, naming, offer, tools, suite, timeouts } = server;
  return [
    ...[description, switchboardDescription, exposure, naming, offer, timeouts.idleMs],
    ...writtenOf(server),
    ...[suite.name, suite.description, suite.summaryMaxChars, suite.instructionsMaxChars, suite.mode],
    suite.split,
    ...toolsOf(tools),
    ...[server.results?.maxTokens, server.results?.minify],
  ];
}

function writtenOf(server: ConfiguredServer): unknown[] {
  switch (server.kind) {
    case 'stdio':
      return [server.written.command, server.written.args, server.written.cwd, server.stopFirst];
    case 'remote':
      return [server.written.url];
    case 'builtin':
      return [server.written.project];
    case 'unusable':
      return [];
  }
}

function toolsOf({ allow, deny, shapes }: ToolSettings): unknown[] {
  const words = (patterns: readonly Pattern[] | undefined): unknown =>
    patterns?.map(({ pattern, literal }) => [pattern, literal]);
  const presentation = [...shapes].map(
    ([tool, { exposed, description, presets, redact, results }]) =>
      [tool, [exposed, description, presets, redact, results]] as const,
  );
  return [words(allow), words(deny), new Map(presentation)];
}
