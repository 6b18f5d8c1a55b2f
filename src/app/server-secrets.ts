import { remoteSecrets, type ServerDefinition } from '../config/index.ts';
import { isSecretName } from '../shared/secrets.ts';

/**
 * What must not be stored with a server's lists, in case they repeat what the server was given: values that are secret
 * by name, and values of its definition that may be secret under any name, such as an address with a password.
 */
export function serverSecrets(server: ServerDefinition, inherited: NodeJS.ProcessEnv): string[] {
  return [...secretsByKind(server, inherited), ...(server.secrets ?? [])].filter(
    (value) => value.length >= MIN_CHARS,
  );
}

function secretsByKind(server: ServerDefinition, inherited: NodeJS.ProcessEnv): string[] {
  switch (server.kind) {
    case 'builtin':
      return [];
    case 'remote':
      return remoteSecrets(server);
    case 'stdio': {
      const ofOurs = Object.entries(inherited).filter(([name]) => isSecretName(name));
      const own = Object.entries(server.env).filter(
        ([name, value]) => isSecretName(name) || mayBeSecret(value),
      );
      const values = [...ofOurs, ...own].map(([, value = '']) => value);
      return [...values, ...secretArguments(server.args)];
    }
  }
}

/** Shorter values occur in texts by chance. */
const MIN_CHARS = 6;

/** Whether a value is neither a path nor made of ordinary words. */
function mayBeSecret(value: string): boolean {
  return (
    value.length >= 12 &&
    !/^(?:[~.]*[\\/]|[A-Za-z]:[\\/])/.test(value) &&
    !/^[A-Za-z]+(?:[ _-][A-Za-z]+)*$/.test(value)
  );
}

/** The values of arguments such as `--token=X` and `--token X`. */
function secretArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    const [, flag = '', value] = /^-+([\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (!isSecretName(flag.replaceAll('-', '_'))) return [];
    return value === undefined ? args.slice(at + 1, at + 2) : [value];
  });
}
