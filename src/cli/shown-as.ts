import type { App } from '../app.ts';
import type { ServerDefinition } from '../config/index.ts';
import { printableLine } from '../shared/printable.ts';
import { listedOf } from './survey.ts';

/** How a server is shown to clients. */
export interface Look {
  readonly exposure: ServerDefinition['exposure'];
  /** The name of its one tool, where it is shown as one. */
  readonly suite?: string;
}

/** How a server is shown; nothing is started for that. */
export function lookOf(app: App, server: ServerDefinition): Look {
  const { exposure } = server;
  const suite = exposure === 'suite' ? listedOf(app, server)[0]?.name : undefined;
  return suite === undefined ? { exposure } : { exposure, suite };
}

/** The names a client sees for a server, as far as they are known without starting it. */
export function shownAs(app: App, server: ServerDefinition): string {
  const { exposure, suite } = lookOf(app, server);
  if (exposure === 'hidden') return 'hidden';
  if (!server.offer.includes('tools')) return `only ${server.offer.join(' and ')}`;
  if (suite !== undefined) return suite;
  return server.naming === 'plain' ? 'flat (plain names)' : `flat (${printableLine(server.name)}__*)`;
}
