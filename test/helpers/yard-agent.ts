import { Ajv2020 } from 'ajv/dist/2020.js';
import { envelope, type Era } from './eras.ts';
import { startClient, type RawClient, type RawClientOptions, type RpcMessage } from './raw-client.ts';
import { createYard, SWITCHYARD, type TestYard } from './yard.ts';
import { freePort } from './yard-home.ts';

/** A repository with a dev server, for a client that uses it over MCP. */
export interface AgentYard extends TestYard {
  /** The port in `switchyard.toml`. */
  readonly canonical: number;
  /** Starts `switchyard mcp`, or another program of ours. */
  agent(options?: RawClientOptions): RawClient;
}

/** Responds with its branch and the path, and logs both. */
const WEB = `
import { createServer } from 'node:http';
const { PORT, HOST, SWITCHYARD_BRANCH: branch } = process.env;
console.log('listening for ' + branch);
createServer((request, response) => {
  console.log('GET ' + request.url);
  if (request.url === '/error') console.error('Error: it went wrong in ' + branch);
  response.end('web of ' + branch);
}).listen(Number(PORT), HOST);
`;

/** \`more\` is added to \`switchyard.toml\`. */
export async function agentYard(more = ''): Promise<AgentYard> {
  const canonical = await freePort();
  const toml = `
[project]
name = "shop"
[env]
link = [".env"]
[proxy]
port = ${await freePort()}
[services.web]
command = "node web.mjs"
port = ${canonical}
[profiles.small]
services = ["web"]
${more}`;
  const yard = createYard({ toml, files: { 'web.mjs': WEB, '.gitignore': '.env\n' } });
  return {
    ...yard,
    canonical,
    agent: (options = {}) =>
      startClient({
        command: process.execPath,
        args: [SWITCHYARD, 'mcp'],
        cwd: yard.dir,
        marker: yard.marker,
        ...options,
        env: { ...yard.env, ...options.env },
      }),
  };
}

/** Validates the results of tools against their schemas. */
export class Schemas {
  readonly #ajv = new Ajv2020();
  readonly #tools: ReadonlyMap<string, any>;

  constructor(tools: readonly any[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  /** What is wrong with a result; undefined if it is valid. An error needs no structured content. */
  fault(tool: string, result: any): string | undefined {
    const { structuredContent: data, isError } = result;
    if (data === undefined) return isError === true ? undefined : 'there is no structured content';
    const check = this.#ajv.compile(this.#tools.get(tool).outputSchema);
    return check(data) ? undefined : this.#ajv.errorsText(check.errors);
  }
}

/** The same requests from a client of either era. */
export function speaker(client: RawClient, era: Era) {
  const ask = (method: string, params: any = {}, options = {}): Promise<RpcMessage> =>
    era === 'legacy'
      ? client.request(method, params, options)
      : client.request(method, { ...params, _meta: { ...envelope({}), ...params._meta } }, options);
  return {
    ask,
    call: async (name: string, args: object = {}, more: object = {}, options = {}): Promise<any> =>
      (await ask('tools/call', { name: `switchyard_${name}`, arguments: args, ...more }, options)).result,
  };
}
