import type { Entry } from './edit.ts';
import type { Host } from './host.ts';

/** A program for a host to start. */
export interface EntryProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables of the host's environment that the program needs. Default: none. */
  readonly variables?: readonly string[] | undefined;
  /** Variables with their values. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A running server, and the variable from which the host takes the token to send. */
export interface EntryAddress {
  readonly url: string;
  readonly tokenVariable: string;
}

/** The entry with which a host starts a program. */
export function programEntry(host: Host, { command, args, variables = [], env = {} }: EntryProgram): Entry {
  const passed = host.envInheritance === 'in-env' ? variables : [];
  const references = passed.map((name): [string, string] => [name, referenceTo(name, host)]);
  const values = { ...Object.fromEntries(references), ...env };
  return {
    ...host.stdio,
    ...(host.commandList === true ? { command: [command, ...args] } : { command, args: [...args] }),
    ...(variables.length > 0 && host.envInheritance === 'listed' ? { env_vars: [...variables] } : {}),
    ...(Object.keys(values).length > 0
      ? { [host.commandList === true ? 'environment' : 'env']: values }
      : {}),
  };
}

/**
 * The entry with which a host connects to a server; undefined if the host cannot take the token from the environment.
 */
export function addressEntry(host: Host, { url, tokenVariable }: EntryAddress): Entry | undefined {
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
  if (references === 'braces') return `{env:${name}}`;
  return references === 'editor' ? `\${env:${name}}` : `\${${name}}`;
}
