import { dirname, isAbsolute, join, relative } from 'node:path';
import {
  connectionSettings,
  storePlaceOf,
  type LoadedConfig,
  type ServerDefinition,
} from '../config/index.ts';
import type { Component, Source } from '../gateway/index.ts';
import type { Logger } from '../shared/log.ts';
import { stateDirectory } from '../shared/paths.ts';
import { printable } from '../shared/printable.ts';
import { sha256 } from '../shared/sha256.ts';
import { shellWord } from '../shared/shell-word.ts';
import type { Store } from '../store/index.ts';
import {
  guardedSource,
  Records,
  Review,
  type Decisions,
  type PinnedServer,
  type Pins,
  type ServerReview,
  type ToolReview,
} from '../trust/index.ts';
import { serverCacheKey } from '../upstream/index.ts';

export interface TrustContext {
  readonly decisions: Decisions;
  readonly pins: Pins;
  /** Identifies a server for its pins, independent of the rest of its definition. */
  readonly pinned: (server: ServerDefinition) => PinnedServer;
  readonly log: Logger;
  /** The first words of a command of this program. */
  readonly command: string;
}

/** A server whose tools run only as its configuration allows. */
export function withTrust(
  inner: Source,
  server: ServerDefinition,
  { decisions, pins, pinned, log, command }: TrustContext,
): Source {
  const { approval, name } = server;
  const blocks = server.kind !== 'builtin' && server.pin === 'block';
  if (approval === undefined && !blocks) return inner;
  const trust = `${command} trust ${shellWord(name)}`;
  return guardedSource({
    inner,
    screen: blocks
      ? {
          pins,
          server: pinned(server),
          isRemote: server.kind === 'remote',
          reviewCommand: (tool) => (tool === undefined ? trust : `${trust} ${shellWord(printable(tool))}`),
        }
      : undefined,
    approval: approval && {
      server: name,
      key: pinned(server).key,
      approval,
      hiddenArguments: (tool) => {
        const { redact = [], presets = {} } = server.tools.shapes.get(tool) ?? {};
        return new Set([...redact, ...Object.keys(presets)]);
      },
      decisions,
      allowCommand: (tool) => `${trust} ${shellWord(tool)} --allow`,
      log,
    },
  });
}

/** The remembered tools of configured servers, for the person who reviews them. */
export interface TrustReview extends Pick<Review, 'allowed' | 'revoke'> {
  of(server: ServerDefinition): ServerReview;
  /** How many of its tools a person has to review. */
  countFor(server: ServerDefinition): number;
  recount(): void;
  /** Resolves when all lists that arrived so far have been compared. */
  settle(): Promise<void>;
  /** Loads what other machines that share the store have changed. */
  refresh(servers: readonly ServerDefinition[]): Promise<void>;
  approve(server: ServerDefinition, shown: readonly ToolReview[]): Promise<void>;
  allow(
    server: ServerDefinition,
    tool: string,
    find: () => Promise<Component | undefined>,
  ): ReturnType<Review['allow']>;
}

export function trustReview({
  decisions,
  pins,
  pinned,
}: Pick<TrustContext, 'decisions' | 'pins' | 'pinned'>): TrustReview {
  const review = new Review(pins.store, decisions);
  return {
    of: (server) => review.of(pinned(server)),
    countFor: (server) => (server.pin === 'off' ? 0 : review.countFor(pinned(server))),
    recount: () => review.recount(),
    settle: () => pins.settle(),
    refresh: (servers) => pins.refresh(servers.map(pinned)),
    approve: (server, shown) => review.approve(pinned(server), shown),
    get allowed() {
      return review.allowed;
    },
    allow: (server, tool, find) => review.allow(pinned(server), tool, find),
    revoke: (server, tool) => review.revoke(server, tool),
  };
}

/** Pins and approvals. Gateways that share a store keep theirs apart from those of others on this machine. */
export function trustRecords(
  config: Pick<LoadedConfig, 'writtenStore' | 'secrets' | 'settings'>,
  env: NodeJS.ProcessEnv,
  store: Store | undefined,
): Records {
  const directory = stateDirectory(env);
  const place = storePlaceOf(config, env);
  if (place === undefined) return new Records(directory);
  const id = sha256(JSON.stringify([place, config.settings.replica.group])).slice(0, 16);
  return new Records(join(directory, 'replicas', id), store ?? 'not opened');
}

/**
 * Identifies servers by how they are reached, as written in the configuration: a new token does not make a new server,
 * a different command does. If gateways share a store, the directory of each one's configuration is ignored.
 */
export function pinnedBy(
  config: Pick<LoadedConfig, 'writtenStore' | 'secrets'>,
  env: NodeJS.ProcessEnv,
): TrustContext['pinned'] {
  const isShared = storePlaceOf(config, env) !== undefined;
  return (server) => ({
    name: server.name,
    key: serverCacheKey(server.name, server.kind, isShared ? withoutPlace(server) : writtenOf(server)),
  });
}

function writtenOf(server: ServerDefinition): unknown {
  return server.kind === 'builtin' ? connectionSettings(server) : server.written;
}

function withoutPlace(server: ServerDefinition): unknown {
  if (server.kind !== 'stdio' || !isAbsolute(server.written.cwd)) return writtenOf(server);
  const { written, origin } = server;
  return { ...written, cwd: relative(dirname(origin.file), written.cwd) };
}
