/** Tells a gateway among the servers how many gateways stand before it. */
export const DEPTH_VARIABLE = 'SWITCHBOARD_DEPTH';

/** Tells a gateway that is reached over HTTP which gateways a client has come through. */
export const PATH_HEADER = 'switchboard-path';

/** How many gateways this one runs behind; 0 where a host started it. */
export function nestingDepth(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[DEPTH_VARIABLE]);
  return Number.isInteger(depth) && depth > 0 ? depth : 0;
}
