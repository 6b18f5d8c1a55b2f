import type { ConfigScope } from './find.ts';
import type { BuiltinServer, StdioServer } from './schema/config.ts';
import type { ToolApproval } from './approval.ts';
import type { ServerTimeouts, Settings } from './settings.ts';
import type { ResultSettings } from './result-settings.ts';
import type { Origin, ToolSettings } from './tool-settings.ts';

/** Everything needed to reach one server and to show it. */
export type ServerDefinition = StdioDefinition | RemoteDefinition | BuiltinDefinition;

/** A server of the configuration, whether it can be used or not. */
export type ConfiguredServer = ServerDefinition | UnusableServer;

interface CommonDefinition {
  readonly name: string;
  /** What the server is for, in its own words. */
  readonly description?: string | undefined;
  /** The whole description of its suite tool, as the server's definition gives it. */
  readonly switchboardDescription?: string | undefined;
  /**
   * Where it was defined: the file, and the location in it (empty for a file about one server). Both are empty for one that
   * was added while the gateway runs (isRuntimeServer).
   */
  readonly origin: ServerOrigin;
  /** In milliseconds. */
  readonly timeouts: ServerTimeouts;
  /** Whether each client gets a server of its own, or all get the same one. */
  readonly isolation: Settings['isolation'];
  /** How many processes of it may run at one time, for all clients together. Default: any number. */
  readonly maxProcesses?: number | undefined;
  /** Whether it is shown as one tool, with all its tools, or not at all. */
  readonly exposure: Settings['exposure'];
  /** Names of its tools and prompts where they are shown one by one. */
  readonly naming: Settings['naming'] | 'own';
  /** What of it clients get to see. */
  readonly offer: Settings['offer'];
  /** Which tools are offered, and how they look. */
  readonly tools: ToolSettings;
  readonly suite: SuiteDefinition;
  /** How long its results may be; a tool may have limits of its own. Default: as long as they are. */
  readonly results?: ResultSettings | undefined;
  /** Which of its tools run only after a person has agreed. Default: none asks. */
  readonly approval?: ToolApproval | undefined;
  /** What happens to tools that it has changed. Default warn. */
  readonly pin?: Settings['pin'] | undefined;
  /** Instructions for its language model from mcp-descriptions.json. */
  readonly claude?: string | undefined;
  /** Settings of the language model in front of it, if there is one. */
  readonly language?: LanguageDefinition | undefined;
  /** The values of the secrets that its definition refers to, to be masked wherever it is reported. Default none. */
  readonly secrets?: readonly string[] | undefined;
}

export interface ServerOrigin extends Origin {
  /**
   * The part of the configuration that it belongs to, also where the file is a `.mcp.json` that was discovered. Default:
   * none, it was added while the gateway runs.
   */
  readonly scope?: ConfigScope | undefined;
}

/** A language model that takes natural-language requests for a server and uses its tools. Undefined members have a default where they are used. */
export interface LanguageDefinition {
  /** `host`: the one of the client. Default: by the keys there are. */
  readonly model?: string | undefined;
  /** Whose model it is. Default: by its name. */
  readonly provider?: 'anthropic' | 'openai' | 'host' | undefined;
  /** Where it is reached, filled in. */
  readonly baseUrl?: string | undefined;
  /** Filled in. Never to be logged. Default: from the environment. */
  readonly apiKey?: string | undefined;
  /** Instructions for the model. */
  readonly instructions?: string | undefined;
  /** A file that says it, absolute. It is read for every request, so that it can be edited. */
  readonly instructionsFile?: string | undefined;
  /** Whether tools that may destroy something run without a person being asked. */
  readonly allowDestructive: boolean;
  /** How often the model may be asked for one request. */
  readonly maxSteps: number;
  /** How many tokens one request may cost, read and written together. */
  readonly maxTokens: number;
  /** How long one request may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** A server we start and talk to over its stdin and stdout. */
export interface StdioDefinition extends CommonDefinition {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The same as it was written, references not filled in: the form to show to people. */
  readonly written: { readonly command: string; readonly args: readonly string[]; readonly cwd: string };
  /** Absolute. */
  readonly cwd: string;
  /** Only what the definition gives, filled in; composeEnv makes the whole. Never to be logged. */
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: boolean | readonly string[];
  readonly framing: NonNullable<StdioServer['framing']>;
  /** What it is started in. Default: nothing. */
  readonly sandbox?: SandboxDefinition | undefined;
  /** Whether a reload stops the old process before it starts the new one. Default false. */
  readonly stopFirst?: boolean | undefined;
}

/** What a server may do in its sandbox. All paths are absolute. */
export interface SandboxDefinition {
  /** The program that makes it. */
  readonly bwrap: string;
  readonly write: readonly string[];
  readonly read: readonly string[];
  readonly hide: readonly string[];
  readonly network: boolean;
}

/** A server that runs elsewhere and is reached over HTTP. */
export interface RemoteDefinition extends CommonDefinition {
  readonly kind: 'remote';
  /** `auto` finds out which one the server speaks. */
  readonly transport: 'auto' | 'http' | 'sse';
  /** Filled in, http or https, without a user name and password. May hold a secret all the same: never to be logged. */
  readonly url: string;
  /** As it was written, references not filled in and `***` for what may be a secret: the form to show to people. */
  readonly written: { readonly url: string };
  /** Filled in, names as they were written. Never to be logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** How a login works where the server asks for one; false: there is none. */
  readonly oauth: false | OAuthSettings;
}

/** A part of this program that is shown like a server. There is no process, and each client has its own. */
export interface BuiltinDefinition extends CommonDefinition {
  readonly kind: 'builtin';
  readonly builtin: BuiltinServer['builtin'];
  /** The project it is for, filled in: a path or a name. Default the directory. */
  readonly project?: string | undefined;
  /** Whether the user file or a file that was named says which project, without variables: then it is meant. */
  readonly named: boolean;
  /** Of the file that defines it, absolute. */
  readonly directory: string;
  /** As it was written, references not filled in: the form to show to people. */
  readonly written: { readonly builtin: string; readonly project?: string | undefined };
}

/** A server that cannot be used as it is defined. It stays in the list, and says why. */
export interface UnusableServer extends CommonDefinition {
  readonly kind: 'unusable';
  /** Why, as the end of a sentence. Never holds a value of the environment. */
  readonly reason: string;
  /** What to do about it, as sentences. */
  readonly nextStep: string;
  /** Whether nothing is wrong with it but that its file is not allowed yet. Default false. */
  readonly notAllowed?: boolean | undefined;
}

/** What a definition says about logging in, filled in. */
export interface OAuthSettings {
  /** The client registered for us. Default: we register ourselves. */
  readonly clientId?: string | undefined;
  /** Never to be logged. */
  readonly clientSecret?: string | undefined;
  /** An https address that describes us as a client, and is the client id. */
  readonly clientMetadataUrl?: string | undefined;
  /** The rights to ask for, with spaces between them. Default: what the server says. */
  readonly scope?: string | undefined;
  /** The port the browser comes back to. Default: any that is free. */
  readonly callbackPort?: number | undefined;
  /** Whether tokens are bound to a key. Default `auto`: if the server asks for it and its issuer supports it. */
  readonly dpop?: 'auto' | 'required' | 'off' | undefined;
  /** How a service logs in. Default: a person does. */
  readonly grant?: 'client_credentials' | 'jwt_bearer' | 'token_exchange' | undefined;
  /** The only issuer that gets our secrets. Default: the one that the server names. */
  readonly issuer?: string | undefined;
  /** The key that the client proves itself with, in the place of a secret: PKCS #8, PEM. Never to be logged. */
  readonly privateKey?: string | undefined;
  readonly keyAlgorithm?: string | undefined;
  readonly keyId?: string | undefined;
  /** The JWT of another issuer that is exchanged for a token. Never to be logged. */
  readonly assertion?: string | undefined;
  /** Where the assertion, an ID token, is exchanged first: the company's identity provider, and who we are to it. */
  readonly identityProvider?: IdentityProviderSettings | undefined;
}

export interface IdentityProviderSettings {
  readonly tokenEndpoint: string;
  readonly clientId?: string | undefined;
  /** Never to be logged. */
  readonly clientSecret?: string | undefined;
}

/** How a server is shown as one tool. */
export interface SuiteDefinition {
  /** The tool's name where one was given; otherwise it is made from the server's name. */
  readonly name?: string | undefined;
  /** The tool's whole description where one was given: by `suites`, switchboardDescription or mcp-descriptions.json. */
  readonly description?: string | undefined;
  /** Longest summary of a tool, in characters. */
  readonly summaryMaxChars: number;
  /** How much of the server's instructions comes with its list of tools, in characters. */
  readonly instructionsMaxChars: number;
  readonly mode: Settings['introspection']['mode'];
  /** `effect`: one tool for what only reads, and one for the rest. Default: one tool. */
  readonly split?: 'effect' | undefined;
}
