import type { ActionName } from '../../../console/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';

type Kind = 'text' | 'number' | 'boolean' | 'object' | 'any';

const OF_SERVER = { gateway: 'text', server: 'text' } as const;
const OF_CALL = { gateway: 'text', call: 'text' } as const;
const OF_SERVICES = { directory: 'text', branch: 'text?', service: 'text?' } as const;
const OF_HOST = { host: 'text', change: 'text' } as const;

/** The parameters of each action; those with a question mark are optional. */
const PARAMS: Readonly<Record<ActionName, Readonly<Record<string, Kind | `${Kind}?`>>>> = {
  'stream.topics': { stream: 'text', topics: 'any' },
  'servers.start': OF_SERVER,
  'servers.stop': OF_SERVER,
  'servers.reload': OF_SERVER,
  'servers.enable': OF_SERVER,
  'servers.disable': OF_SERVER,
  'servers.remove': OF_SERVER,
  'servers.parse': { text: 'text' },
  'servers.add': { gateway: 'text', server: 'object' },
  'servers.entry': OF_SERVER,
  'servers.edit': { ...OF_SERVER, entry: 'object' },
  'servers.schema': {},
  'servers.login': OF_SERVER,
  'servers.logout': OF_SERVER,
  'servers.trust': OF_SERVER,
  'servers.approve': { ...OF_SERVER, tool: 'text', hash: 'text' },
  'gateways.reload': { gateway: 'text' },
  'calls.list': {
    gateway: 'text?',
    client: 'text?',
    server: 'text?',
    name: 'text?',
    failed: 'boolean?',
    before: 'object?',
    limit: 'number?',
  },
  'calls.get': OF_CALL,
  'calls.cancel': OF_CALL,
  'tools.list': OF_SERVER,
  'tools.call': { ...OF_SERVER, stream: 'text', trial: 'text', tool: 'text', arguments: 'object' },
  'tools.cancel': { trial: 'text' },
  'tools.answer': { trial: 'text', request: 'text', result: 'object?', error: 'object?' },
  'resources.read': { ...OF_SERVER, uri: 'text' },
  'lists.get': { gateway: 'text', client: 'any?', exposure: 'any?' },
  'servers.expose': { ...OF_SERVER, exposure: 'text' },
  'hosts.list': {},
  'hosts.preview': OF_HOST,
  'hosts.change': OF_HOST,
  'projects.list': {},
  'services.start': OF_SERVICES,
  'services.stop': OF_SERVICES,
  'services.restart': OF_SERVICES,
  'projects.checkout': { directory: 'text', branch: 'text' },
  'services.logs': { ...OF_SERVICES, lines: 'number?', search: 'text?' },
  'ports.holder': { port: 'number' },
  'logs.search': { gateway: 'text?', server: 'any?', text: 'text?', limit: 'number?' },
};

/** Throws ARGS_INVALID if an action does not exist, or one of its parameters is missing or has the wrong type. */
export function checkParams(method: ActionName, params: Record<string, unknown>): void {
  if (!Object.hasOwn(PARAMS, method))
    throw new SwitchboardError('ARGS_INVALID', `Unknown action ${JSON.stringify(method)}.`);
  for (const [name, kind] of Object.entries(PARAMS[method])) {
    const value = params[name];
    if (kind.endsWith('?') && value === undefined) continue;
    if (!isOfKind(value, kind.replace('?', '') as Kind))
      throw new SwitchboardError(
        'ARGS_INVALID',
        `${method} needs ${name}, as ${WORDS[kind.replace('?', '') as Kind]}.`,
      );
  }
}

const WORDS: Readonly<Record<Kind, string>> = {
  text: 'a string',
  number: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  any: 'a value',
};

function isOfKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string' && value.length <= MAX_TEXT && !value.includes('\0');
    case 'number':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
      return isObject(value);
    case 'any':
      return true;
  }
}

const MAX_TEXT = 256 * 1024;
