import { isSecretName } from '../shared/secrets.ts';
import type { Entry } from './edit.ts';
import type { Host } from './host.ts';

/** A program that a host is to start. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables of the host's environment that the program needs. Default none. */
  readonly variables?: readonly string[] | undefined;
}

/** A server that is running, and the variable in which the host finds what it must send to be let in. */
export interface Address {
  readonly url: string;
  readonly tokenVariable: string;
}

/** The entry by which a host starts a program. */
export function programEntry(host: Host, { command, args, variables = [] }: Program): Entry {
  const needed = variables.filter((name) => host.passes !== 'all-but-secrets' || isSecretName(name));
  return {
    ...host.stdio,
    command,
    args: [...args],
    ...(needed.length > 0 && host.passes === 'listed' ? { env_vars: needed } : {}),
    ...(needed.length > 0 && host.passes === 'all-but-secrets'
      ? { env: Object.fromEntries(needed.map((name) => [name, referenceTo(name, host)])) }
      : {}),
  };
}

/** The entry by which a host connects to a server; undefined where the host has no such entries. */
export function addressEntry(host: Host, { url, tokenVariable }: Address): Entry | undefined {
  if (host.http === undefined) return undefined;
  const { address, constant, bearer } = host.http;
  return {
    ...constant,
    [address]: url,
    ...(bearer === 'variable-name'
      ? { bearer_token_env_var: tokenVariable }
      : { headers: { Authorization: `Bearer ${referenceTo(tokenVariable, host)}` } }),
  };
}

function referenceTo(name: string, { references }: Host): string {
  return references === 'editor' ? `\${env:${name}}` : `\${${name}}`;
}
