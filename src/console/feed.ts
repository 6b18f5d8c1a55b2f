import type { ActionName, Actions, ConsoleEvent, Problem, Topic } from './protocol.ts';

/**
 * What a gateway and a console say to each other on the control channel, once the console has asked to `watch`. Types only.
 * The gateway sends what it knows first, all of it, and what has changed after that. A request is
 * `{"id":1,"method":"…","params":{…}}`, and its response carries its id.
 */
export type FeedMessage =
  | { readonly events: readonly ConsoleEvent[] }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: Problem };

/** The actions that a gateway does itself. */
export type GatewayAction =
  | 'servers.start'
  | 'servers.stop'
  | 'servers.reload'
  | 'servers.trust'
  | 'servers.approve'
  | 'gateways.reload'
  | 'calls.get'
  | 'calls.cancel'
  | 'tools.list'
  | 'tools.call'
  | 'tools.cancel'
  | 'tools.answer'
  | 'resources.read'
  | 'lists.get';

/** The parameters of each method. */
export type FeedMethods = { readonly [M in GatewayAction & ActionName]: Actions[M]['params'] } & {
  /** What is sent besides the gateway, its servers and its clients. */
  readonly topics: { readonly topics: readonly Topic[] };
};
