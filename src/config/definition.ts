import type { ConfigScope } from './find.ts';
import type { BuiltinServer, StdioServer } from './schema/config.ts';
import type { ToolApproval } from './approval.ts';
import type { ServerTimeouts, Settings } from './settings.ts';
import type { ResultSettings } from './result-settings.ts';
import type { Origin, ToolSettings } from './tool-settings.ts';

/** Everything needed to reach and expose one server. */
export type ServerDefinition = StdioDefinition | RemoteDefinition | BuiltinDefinition;

/** A configured server, usable or not. */
export type ConfiguredServer = ServerDefinition | UnusableServer;

interface CommonDefinition {
  readonly name: string;
  /** The purpose of the server, in its own words. */
  readonly description?: string | undefined;
  /** The complete description of its suite tool, from the server's definition. */
  readonly switchboardDescription?: string | undefined;
  /**
   * Where it is defined: the file, and the location in it (empty for a file about one server). Both are empty for a
   * server that was added at run time (isRuntimeServer).
   */
  readonly origin: ServerOrigin;
  /** In milliseconds. */
  readonly timeouts: ServerTimeouts;
  /** Whether each client gets its own server, or all share one. */
  readonly isolation: Settings['isolation'];
  /** How many of its processes may run at one time, for all clients together. Default: any number. */
  readonly maxProcesses?: number | undefined;
  /** How its tools are exposed to clients. */
  readonly exposure: Settings['exposure'];
  /** The names of its tools and prompts when they are exposed individually. */
  readonly naming: Settings['naming'] | 'own';
  /** The kinds of components that clients see. */
  readonly offer: Settings['offer'];
  /** Which tools are offered, and under which names and descriptions. */
  readonly tools: ToolSettings;
  readonly suite: SuiteDefinition;
  /** Limits on its results; a tool may have its own. Default: no limits. */
  readonly results?: ResultSettings | undefined;
  /** Which of its tools require a person's approval. Default: none. */
  readonly approval?: ToolApproval | undefined;
  /** What happens to its tools that have changed. Default warn. */
  readonly pin?: Settings['pin'] | undefined;
  /** Instructions for its language model from mcp-descriptions.json. */
  readonly claude?: string | undefined;
  /** Settings of the language model in front of it, if there is one. */
  readonly language?: LanguageDefinition | undefined;
  /** The values of the secrets that its definition refers to, to be masked wherever it is reported. Default: none. */
  readonly secrets?: readonly string[] | undefined;
}

export interface ServerOrigin extends Origin {
  /**
   * The part of the configuration that it belongs to, even if its file is a `.mcp.json` that was discovered. Default:
   * none, because it was added at run time.
   */
  readonly scope?: ConfigScope | undefined;
}

/**
 * A language model that accepts natural-language requests for a server and uses its tools. Defaults for undefined
 * members are applied where they are used.
 */
export interface LanguageDefinition {
  /** `host`: the client's model. Default: depends on which API keys are set. */
  readonly model?: string | undefined;
  /** Whose model it is. Default: derived from its name. */
  readonly provider?: 'anthropic' | 'openai' | 'host' | undefined;
  /** The address of its API, with references filled in. */
  readonly baseUrl?: string | undefined;
  /** With references filled in. Must never be logged. Default: from the environment. */
  readonly apiKey?: string | undefined;
  /** Instructions for the model. */
  readonly instructions?: string | undefined;
  /** A file with these instructions, absolute. Read for every request, so that it can be edited. */
  readonly instructionsFile?: string | undefined;
  /** Whether potentially destructive tools run without asking a person. */
  readonly allowDestructive: boolean;
  /** How often the model may be called for one request. */
  readonly maxSteps: number;
  /** How many tokens one request may use, input and output together. */
  readonly maxTokens: number;
  /** How long one request may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** A server that we start and reach over its stdin and stdout. */
export interface StdioDefinition extends CommonDefinition {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The same as written, with references not filled in: the form to show to people. */
  readonly written: { readonly command: string; readonly args: readonly string[]; readonly cwd: string };
  /** Absolute. */
  readonly cwd: string;
  /** Only what the definition sets, with references filled in; composeEnv makes it complete. Must never be logged. */
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: boolean | readonly string[];
  readonly framing: NonNullable<StdioServer['framing']>;
  /** The sandbox it is started in. Default: none. */
  readonly sandbox?: SandboxDefinition | undefined;
  /** Whether a reload stops the old process before it starts the new one. Default false. */
  readonly stopFirst?: boolean | undefined;
}

/** What a server may access from its sandbox. All paths are absolute. */
export interface SandboxDefinition {
  /** The program that creates it. */
  readonly bwrap: string;
  readonly write: readonly string[];
  readonly read: readonly string[];
  readonly hide: readonly string[];
  readonly network: boolean;
}

/** A remote server, reached over HTTP. */
export interface RemoteDefinition extends CommonDefinition {
  readonly kind: 'remote';
  /** `auto` detects which one the server supports. */
  readonly transport: 'auto' | 'http' | 'sse';
  /**
   * With references filled in: http or https, without a user name and password. May still contain a secret, so it must
   * never be logged.
   */
  readonly url: string;
  /** As written, with references not filled in and `***` for what may be a secret: the form to show to people. */
  readonly written: { readonly url: string };
  /** With references filled in and names as written. Must never be logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** How to log in if the server requires it; false: never. */
  readonly oauth: false | OAuthSettings;
}

/** A part of this program that is exposed like a server. It has no process, and each client has its own. */
export interface BuiltinDefinition extends CommonDefinition {
  readonly kind: 'builtin';
  readonly builtin: BuiltinServer['builtin'];
  /** Its project, with references filled in: a path or a name. Default: the directory. */
  readonly project?: string | undefined;
  /** Whether the project is set explicitly, without variables, in the user file or in a file that was named. */
  readonly named: boolean;
  /** The directory of the file that defines it, absolute. */
  readonly directory: string;
  /** As written, with references not filled in: the form to show to people. */
  readonly written: { readonly builtin: string; readonly project?: string | undefined };
}

/** A server whose definition cannot be used. It stays in the list with the reason. */
export interface UnusableServer extends CommonDefinition {
  readonly kind: 'unusable';
  /** Why, as the end of a sentence. Never contains a value from the environment. */
  readonly reason: string;
  /** What to do about it, as sentences. */
  readonly nextStep: string;
  /** Whether its only problem is that its file is not allowed yet. Default false. */
  readonly notAllowed?: boolean | undefined;
}

/** The configured login, with references filled in. */
export interface OAuthSettings {
  /** The client that was registered for us. Default: we register ourselves. */
  readonly clientId?: string | undefined;
  /** Must never be logged. */
  readonly clientSecret?: string | undefined;
  /** An https address that describes us as a client and is our client id. */
  readonly clientMetadataUrl?: string | undefined;
  /** The scopes to request, separated by spaces. Default: those the server announces. */
  readonly scope?: string | undefined;
  /** The port to which the browser returns. Default: any free port. */
  readonly callbackPort?: number | undefined;
  /** Whether tokens are bound to a key. Default `auto`: if the server asks for it and its issuer supports it. */
  readonly dpop?: 'auto' | 'required' | 'off' | undefined;
  /** How a service logs in. Default: a person does. */
  readonly grant?: 'client_credentials' | 'jwt_bearer' | 'token_exchange' | undefined;
  /** The only issuer that gets our secrets. Default: the one named by the server. */
  readonly issuer?: string | undefined;
  /** The key with which the client authenticates instead of a secret: PKCS #8, PEM. Must never be logged. */
  readonly privateKey?: string | undefined;
  readonly keyAlgorithm?: string | undefined;
  readonly keyId?: string | undefined;
  /** The JWT of another issuer that is exchanged for a token. Must never be logged. */
  readonly assertion?: string | undefined;
  /** Where the assertion, an ID token, is exchanged first: the company's identity provider, and our client there. */
  readonly identityProvider?: IdentityProviderSettings | undefined;
}

export interface IdentityProviderSettings {
  readonly tokenEndpoint: string;
  readonly clientId?: string | undefined;
  /** Must never be logged. */
  readonly clientSecret?: string | undefined;
}

/** How a server is exposed as one tool. */
export interface SuiteDefinition {
  /** The configured name of the tool. Default: derived from the server's name. */
  readonly name?: string | undefined;
  /** The configured description of the whole tool, from `suites`, switchboardDescription or mcp-descriptions.json. */
  readonly description?: string | undefined;
  /** The longest summary of a tool, in characters. */
  readonly summaryMaxChars: number;
  /** How much of the server's instructions is included in its list of tools, in characters. */
  readonly instructionsMaxChars: number;
  readonly mode: Settings['introspection']['mode'];
  /** `effect`: one tool for what only reads, and another for the rest. Default: a single tool. */
  readonly split?: 'effect' | undefined;
}
