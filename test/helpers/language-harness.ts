import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startHttpGateway, type HttpGateway } from './http-gateway.ts';
import {
  samplingClients,
  type ClientTarget,
  type SamplingCallOptions,
  type SamplingClient,
  type SamplingClientOptions,
} from './sampling-client.ts';
import { createProject, nodeServer, npmServer, ROOT } from './temp-project.ts';

export interface LanguageHarnessOptions extends Partial<Omit<SamplingClientOptions, 'place'>> {
  readonly client: keyof typeof samplingClients;
  /** Settings for all servers: which model, and its address. */
  readonly settings: object;
  /** Default stdio. */
  readonly wire?: 'stdio' | 'http';
}

/** The API key in the tests, which must never be visible. */
export const KEY = 'sk-of-the-tests-0123456789';

/** Servers behind a language model and the built gateway, and an official client. */
export interface LanguageHarness {
  readonly client: SamplingClient;
  /** What the client is connected to. */
  readonly target: ClientTarget;
  /** Sends a query to a server. Resolves with the whole result. */
  readonly say: (server: ServerName, query: string, options?: SamplingCallOptions) => Promise<any>;
  /** What the memory server has on disk. */
  readonly memory: () => string;
  /** Everything that the gateway has logged. */
  readonly log: () => string;
  /** Ends everything, and checks that nothing is left. */
  readonly close: () => Promise<void>;
}

/** `brief`, `cheap` and `hasty` may not take long; `bold` may destroy; `keyless` has no key. */
export type ServerName = 'memory' | 'bold' | 'slow' | 'brief' | 'cheap' | 'hasty' | 'pictures' | 'keyless';

export async function startLanguageHarness(options: LanguageHarnessOptions): Promise<LanguageHarness> {
  const { client: kind, settings, wire = 'stdio', capabilities = {}, answer = unexpectedRequest } = options;
  const project = createProject();
  const file = project.path('memory.jsonl');
  const memory = { ...npmServer('memory'), env: { MEMORY_FILE_PATH: file } };
  const servers: Record<ServerName, any> = {
    memory: { ...memory, language: settings },
    bold: { ...memory, language: { ...settings, allowDestructive: true } },
    slow: { ...nodeServer('slow'), language: settings },
    brief: { ...nodeServer('echo'), language: { ...settings, maxSteps: 2 } },
    cheap: { ...nodeServer('echo'), language: { ...settings, maxTokens: 8000 } },
    hasty: { ...nodeServer('slow'), language: { ...settings, timeoutMs: 700 } },
    pictures: { ...npmServer('everything'), language: settings },
    keyless: { ...nodeServer('echo'), language: { ...settings, apiKey: undefined } },
  };
  // A client that leaves does not wait for its running calls.
  const config = { exposure: 'flat', naming: 'prefixed', timeouts: { drainMs: 200 } };
  let gateway: HttpGateway | undefined;
  if (wire === 'http') {
    gateway = await startHttpGateway(servers, {
      config,
      env: { ...WITHOUT_MODELS, SWITCHBOARD_LOG_LEVEL: 'debug' },
    });
  } else project.write('switchboard.config.json', { mcpServers: servers, ...config });
  const target = gateway ?? builtProgram(project.dir, { SWITCHBOARD_LOG_LEVEL: 'debug' });
  const client = await samplingClients[kind]({ target, capabilities, answer });
  // From now on the client knows the schema of each result.
  await client.listTools();
  return {
    client,
    target,
    say: (server, query, sayOptions) => client.call(`${server}__natural_language`, { query }, sayOptions),
    memory: () => (existsSync(file) ? project.read('memory.jsonl') : ''),
    log: () => gateway?.stderr ?? client.stderr(),
    close: async () => {
      await client.close();
      await gateway?.stop();
      await gateway?.project.remove();
      await project.remove();
    },
  };
}

/** The built gateway in a folder, in an environment without any model settings. */
export function builtProgram(cwd: string, env: Readonly<Record<string, string>> = {}) {
  return {
    command: process.execPath,
    args: [join(ROOT, 'dist/index.js')],
    cwd,
    env: cleanEnv(cwd, env),
  };
}

/** The settings of this machine's user must not affect the test. */
export function cleanEnv(cwd: string, env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !(name in WITHOUT_MODELS));
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    SWITCHBOARD_STATE_DIR: join(cwd, '.state'),
    ...env,
  };
}

const WITHOUT_MODELS = {
  ANTHROPIC_API_KEY: undefined,
  ANTHROPIC_BASE_URL: undefined,
  CLAUDE_API_KEY: undefined,
  OPENAI_API_KEY: undefined,
  OPENAI_BASE_URL: undefined,
  SWITCHBOARD_LANGUAGE_MODEL: undefined,
  SWITCHBOARD_LANGUAGE_BASE_URL: undefined,
  SWITCHBOARD_LOG_LEVEL: undefined,
};

function unexpectedRequest(method: string): never {
  throw new Error(`Nobody expected ${method}`);
}
