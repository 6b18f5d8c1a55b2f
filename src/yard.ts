import type { Readable, Writable } from 'node:stream';
import { openStdioDoor, type StdioDoor } from './doors/index.ts';
import { flat } from './exposure/index.ts';
import { Gateway } from './gateway/index.ts';
import type { Logger } from './shared/log.ts';
import { VERSION } from './shared/version.ts';
import { createYardSource, YARD_SOURCE_INFO, type ProjectSelector } from './switchyard/features/mcp/index.ts';

export interface YardServerOptions {
  /** The project it serves. */
  readonly project: ProjectSelector;
  readonly env: NodeJS.ProcessEnv;
  readonly input: Readable;
  readonly output: Writable;
  readonly log: Logger;
}

export interface YardServer {
  readonly door: StdioDoor;
  readonly close: () => Promise<void>;
}

/** No request to us needs to be longer, in bytes. */
const MESSAGE_BYTES = 4 * 1024 * 1024;

/** The MCP server of one project: the core of the gateway with one source, exposed unchanged. */
export function openYardServer({ project, env, input, output, log }: YardServerOptions): YardServer {
  const source = createYardSource({ name: 'switchyard', project, env, log });
  const gateway = new Gateway({
    entries: [
      {
        source,
        rules: { allows: () => true, overrides: new Map() },
        exposure: flat('own'),
        offers: new Set(['tools', 'resources', 'prompts'] as const),
        naming: 'own',
      },
    ],
    log,
  });
  const door = openStdioDoor({
    gateway,
    identity: {
      name: 'switchyard',
      title: 'Switchyard',
      version: VERSION,
      instructions: () => YARD_SOURCE_INFO.instructions ?? '',
      fixed: true,
      initializeOptional: true,
    },
    input,
    output,
    log,
    messageBytes: MESSAGE_BYTES,
    inOrder: true,
  });
  return { door, close: () => gateway.close() };
}
