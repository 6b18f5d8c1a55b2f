/** What files that belong to other programs as well may say about a server. */
import { z } from 'zod';
import {
  address,
  args,
  command,
  commandObject,
  env,
  headerName,
  headers,
  oauth,
  oauthSettings,
  settable,
  shown,
  started,
  TOOL_SHAPES_ERROR,
  toolShapes,
} from './server.ts';
import { serverName } from './words.ts';

/** The name of a variable as `${NAME}` takes it. */
const variableName = z
  .string({ error: 'must be the name of an environment variable' })
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, { error: 'must be the name of an environment variable' });

// GitHub Copilot keeps a list of allowed tools under this key.
const foreignTools = z.union([toolShapes, z.array(z.unknown())], { error: TOOL_SHAPES_ERROR });

/** An entry of a file that belongs to another program as well: what we know must be right, the rest is theirs. */
export const foreignServer = z.looseObject({
  type: z.enum(['stdio', 'local']).optional(),
  command: command(z.looseObject(commandObject)),
  ...started,
  ...shown,
  ...settable,
  tools: foreignTools.optional(),
});

/** The same for a server that runs elsewhere, in the words of any host. */
export const foreignRemote = z.looseObject({
  type: z
    .enum(['auto', 'http', 'sse', 'streamable-http', 'streamableHttp', 'streamable_http', 'remote'])
    .optional(),
  url: address.optional(),
  // Gemini CLI, where "url" means SSE and this the newer transport.
  httpUrl: address.optional(),
  // Windsurf.
  serverUrl: address.optional(),
  headers: headers.optional(),
  // Codex: headers, headers whose values are names of variables, and the name of one with a token.
  http_headers: headers.optional(),
  env_http_headers: z
    .record(headerName, variableName, { error: 'must be an object of header names and variable names' })
    .optional(),
  bearer_token_env_var: variableName.optional(),
  oauth: oauth(z.looseObject(oauthSettings)).optional(),
  ...shown,
  ...settable,
  tools: foreignTools.optional(),
});

/** A `.mcp.json` that describes one server. Also tolerant: whoever wrote it need not know us. */
export const childFile = z.looseObject({
  name: serverName,
  command: command(z.looseObject(commandObject)).optional(),
  args: args.optional(),
  env: env.optional(),
  framing: started.framing,
  isolation: settable.isolation,
  language: settable.language,
  timeouts: settable.timeouts,
  ...shown,
});
