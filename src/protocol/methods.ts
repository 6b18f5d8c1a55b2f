import { isObject } from '../shared/is-object.ts';
import type { JsonObject } from './json.ts';

/** Client requests that the core answers or routes. Others are passed on only if there is a single source. */
const ROUTED = new Set([
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'tasks/list',
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
]);

export function isRoutedMethod(method: string): boolean {
  return ROUTED.has(method);
}

/** The capability that a client must declare before it receives such a request; undefined: none. */
export function requiredCapability(method: string): string | undefined {
  return REQUIRED_CAPABILITIES.get(method);
}

const REQUIRED_CAPABILITIES: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
  ['tasks/get', 'tasks'],
  ['tasks/result', 'tasks'],
  ['tasks/list', 'tasks'],
  ['tasks/cancel', 'tasks'],
]);

/** Whether a client with these capabilities supports elicitation in this mode. Default mode: form. */
export function canElicit(capabilities: JsonObject, mode: string | undefined): boolean {
  const declared = capabilities.elicitation;
  if (!isObject(declared)) return false;
  // Before modes existed, clients declared nothing inside, which meant forms.
  return mode === 'url'
    ? declared.url !== undefined
    : declared.form !== undefined || declared.url === undefined;
}

/** The severity of a log level; −1 if it is not a log level. */
export function severity(level: unknown): number {
  return (LOG_MESSAGE_LEVELS as readonly unknown[]).indexOf(level);
}

/** Log levels, least severe first. */
export const LOG_MESSAGE_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
