import { didYouMean } from '../shared/nearest.ts';
import type { Warn } from './candidate.ts';
import { keyPath } from './problem.ts';
import type { ConfigInput } from './schema/config.ts';
import type { Origin } from './tool-settings.ts';

/** One tool that combines tools of several servers. */
export interface CompoundDefinition {
  readonly name: string;
  readonly description: string;
  readonly subtools: readonly CompoundPart[];
  readonly origin: Origin;
}

/** The tools it uses from one server. They need not exist. */
export interface CompoundPart {
  readonly server: string;
  readonly tools: readonly { readonly name: string; readonly description?: string | undefined }[];
}

export interface KnownServers {
  /** The servers in use. */
  readonly servers: readonly { readonly name: string }[];
  /** Names of disabled servers. */
  readonly disabled: readonly string[];
  /** Names of all defined servers, usable or not. */
  readonly defined: ReadonlySet<string>;
}

/** The compound tools of a configuration. A missing server removes its part of the tool, with a warning. */
export function resolveCompounds(
  tools: NonNullable<ConfigInput['tools']>,
  files: ReadonlyMap<string, string>,
  known: KnownServers,
  warn: Warn,
): CompoundDefinition[] {
  const used = new Set(known.servers.map((server) => server.name));
  return Object.entries(tools).map(([name, { description, subtools }]) => {
    const file = files.get(name) ?? '';
    for (const server of Object.keys(subtools)) {
      if (used.has(server)) continue;
      const key = keyPath(['tools', name, 'subtools', server]);
      warn({ file, key, message: whyMissing(server, used, known), level: 'warn' });
    }
    return {
      name,
      description,
      subtools: Object.entries(subtools).map(([server, part]) => ({ server, tools: part.tools })),
      origin: { file, key: keyPath(['tools', name]) },
    };
  });
}

function whyMissing(server: string, used: ReadonlySet<string>, { disabled, defined }: KnownServers): string {
  if (disabled.includes(server)) return 'this server is disabled; its tools are left out';
  if (defined.has(server)) return 'this server is not available; its tools are left out';
  const guess = didYouMean(server, used);
  return `unknown server; its tools are left out.${guess === undefined ? '' : ` ${guess}`}`;
}
