import { Component, type Listing } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { OUTPUT_SCHEMA } from './report.ts';
import { NATURAL_LANGUAGE } from './tool-name.ts';

/** A request to a server in natural language. */
export interface Query {
  readonly query: string;
  /** Additional information that helps to understand it. */
  readonly context?: string | undefined;
}

/** The list of tools of a server behind a language model: its only tool. */
export function listingFor(server: string, purpose: string | undefined): Listing {
  const tool = new Component(NATURAL_LANGUAGE, JSON.stringify(definitionFor(server, purpose)));
  return { components: [tool], byKey: new Map([[tool.key, tool]]), incomplete: undefined };
}

function definitionFor(server: string, purpose: string | undefined): JsonObject {
  const about = purpose === undefined ? '' : ` (${purpose.trim().replace(/\.+$/, '')})`;
  return {
    name: NATURAL_LANGUAGE,
    title: `Ask ${server}`,
    description:
      `Say in natural language what you want from ${server}${about}. A model does it with the server's tools and answers. ` +
      'It knows only what you write here, so include everything it needs.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to do or find out.' },
        context: { type: 'string', description: 'Context that helps: names, ids, earlier results.' },
      },
      required: ['query'],
    },
    outputSchema: OUTPUT_SCHEMA,
    // It is not known in advance which of the server's tools will be used.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  };
}

/** Reads the arguments of a call of the tool; throws if they are invalid. */
export function readQuery(args: unknown): Query {
  const { query, context } = isObject(args) ? args : {};
  if (typeof query !== 'string' || query.trim() === '')
    throw invalid('query must be a string that says in natural language what you want.');
  if (context !== undefined && context !== null && typeof context !== 'string')
    throw invalid('context must be a string.');
  return { query, context: typeof context === 'string' && context.trim() !== '' ? context : undefined };
}

function invalid(what: string): SwitchboardError {
  return new SwitchboardError('ARGS_INVALID', `${NATURAL_LANGUAGE}: ${what}`, {
    hint: 'For example {"query":"remember that my favourite editor is vim"}.',
  });
}
