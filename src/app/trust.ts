import { connectionSettings, type ServerDefinition } from '../config/index.ts';
import type { Component, Source } from '../gateway/index.ts';
import type { Logger } from '../shared/log.ts';
import { printable } from '../shared/printable.ts';
import { shellWord } from '../shared/shell-word.ts';
import {
  guardedSource,
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
  readonly log: Logger;
  /** The words that begin a command of this program. */
  readonly command: string;
}

/** A server whose tools run as its configuration allows it. */
export function withTrust(
  inner: Source,
  server: ServerDefinition,
  { decisions, pins, log, command }: TrustContext,
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
          server: pinnedServer(server),
          reviewCommand: (tool) => (tool === undefined ? trust : `${trust} ${shellWord(printable(tool))}`),
        }
      : undefined,
    approval: approval && {
      server: name,
      key: trustKey(server),
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

/** What is remembered of the tools of configured servers, for the person who decides on it. */
export interface TrustReview extends Pick<Review, 'allowed' | 'revoke'> {
  of(server: ServerDefinition): ServerReview;
  /** How many of its tools a person has to look at. */
  countFor(server: ServerDefinition): number;
  recount(): void;
  /** Resolves when all lists that came so far are compared. */
  settle(): Promise<void>;
  approve(server: ServerDefinition, shown: readonly ToolReview[]): Promise<void>;
  allow(
    server: ServerDefinition,
    tool: string,
    find: () => Promise<Component | undefined>,
  ): ReturnType<Review['allow']>;
}

export function trustReview({ decisions, pins }: Pick<TrustContext, 'decisions' | 'pins'>): TrustReview {
  const review = new Review(pins.store, decisions);
  return {
    of: (server) => review.of(pinnedServer(server)),
    countFor: (server) => (server.pin === 'off' ? 0 : review.countFor(pinnedServer(server))),
    recount: () => review.recount(),
    settle: () => pins.settle(),
    approve: (server, shown) => review.approve(pinnedServer(server), shown),
    get allowed() {
      return review.allowed;
    },
    allow: (server, tool, find) => review.allow(pinnedServer(server), tool, find),
    revoke: (server, tool) => review.revoke(server, tool),
  };
}

/** As it is pinned, whatever else of its definition changes. */
export function pinnedServer(server: ServerDefinition): PinnedServer {
  return { name: server.name, key: trustKey(server) };
}

/**
 * Stands for a server and how it is reached, as it is written: a new token makes no new server, another command does.
 */
function trustKey(server: ServerDefinition): string {
  const written = server.kind === 'builtin' ? connectionSettings(server) : server.written;
  return serverCacheKey(server.name, server.kind, written);
}
