/** The environment variable that tells a nested gateway how many gateways it runs behind. */
export const DEPTH_VARIABLE = 'SWITCHBOARD_DEPTH';

/** The HTTP header that lists the gateways a request has come through. */
export const PATH_HEADER = 'switchboard-path';

/** How many gateways this one runs behind; 0 where a host started it. */
export function nestingDepth(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[DEPTH_VARIABLE]);
  return Number.isInteger(depth) && depth > 0 ? depth : 0;
}
