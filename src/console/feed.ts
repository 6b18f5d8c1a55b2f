import type { ActionName, Actions, ConsoleEvent, Problem, Topic } from './protocol.ts';

/**
 * What a gateway and a console send each other on the control channel after the console has asked to `watch`. Types
 * only. The gateway first sends its whole state, then every change. A request is `{"id":1,"method":"…","params":{…}}`;
 * its response has the same id.
 */
export type FeedMessage =
  | { readonly events: readonly ConsoleEvent[] }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: Problem };

/** The actions that a gateway carries out itself. */
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
  /** Chooses what to send besides the gateway, its servers and its clients. */
  readonly topics: { readonly topics: readonly Topic[] };
};
