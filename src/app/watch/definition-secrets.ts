import { remoteSecrets, type ConfiguredServer } from '../../config/index.ts';
import { isSecretName, maskTokens, secretMask } from '../../shared/secrets.ts';

/**
 * Returns a function that hides in a text the values that a definition passes to its server, and inherited values that
 * look like secrets.
 */
export function maskFor(
  server: ConfiguredServer | undefined,
  env: NodeJS.ProcessEnv,
): (text: string) => string {
  if (server === undefined) return maskTokens;
  let mask = MASKS.get(server);
  if (mask === undefined) {
    const hide = secretMask(secretsOf(server, env));
    mask = (text) => maskTokens(hide(text));
    MASKS.set(server, mask);
  }
  return mask;
}

const MASKS = new WeakMap<ConfiguredServer, (text: string) => string>();

function secretsOf(server: ConfiguredServer, env: NodeJS.ProcessEnv): string[] {
  const model = server.language?.apiKey === undefined ? [] : [server.language.apiKey];
  if (server.kind === 'unusable') return model;
  const referred = [...model, ...(server.secrets ?? [])];
  if (server.kind === 'remote') return [...remoteSecrets(server), ...referred];
  if (server.kind !== 'stdio') return referred;
  const inherited = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  );
  return [...Object.values(server.env), ...inherited, ...referred];
}
