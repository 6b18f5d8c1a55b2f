import { Exit } from './exit-codes.ts';

/** What an error code means outside the program. */
interface ErrorCodeInfo {
  /**
   * The JSON-RPC code for a client. With `SERVER_ERROR`, a failed `tools/call` becomes a tool result with `isError`
   * instead, so that the model can react to it.
   */
  readonly wire: number;
  /** What a command exits with. */
  readonly exit: number;
}

/** JSON-RPC: the request is wrong. */
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
/** JSON-RPC: the request was right, and it failed. */
export const SERVER_ERROR = -32000;

const FAILED: ErrorCodeInfo = { wire: SERVER_ERROR, exit: Exit.failed };
const USAGE: ErrorCodeInfo = { wire: SERVER_ERROR, exit: Exit.usage };
const CONFIG: ErrorCodeInfo = { wire: SERVER_ERROR, exit: Exit.config };
const PARAMS: ErrorCodeInfo = { wire: INVALID_PARAMS, exit: Exit.failed };

/**
 * Every error code there is. `docs/guide/errors.md` is generated from the comments: the first sentences say what the code
 * means, `@fix` what to do about it.
 */
export const ERROR_CODES = {
  // ## Calling tools, resources and prompts

  /**
   * No tool has this name. Its server may have been removed, crashed or changed.
   * @fix List the tools again (`tools/list`, or `switchboard tools`) and use a name from there.
   */
  TOOL_UNKNOWN: { wire: INVALID_PARAMS, exit: Exit.usage },
  /**
   * The configuration hides this tool.
   * @fix Expose it: change `exposedTools`, `hiddenTools` or `expose` of that server.
   */
  TOOL_NOT_ALLOWED: PARAMS,
  /**
   * The client has reached a limit of its role: calls per minute, concurrent calls or the size of a result.
   * @fix Try again when the message says, ask for less, or raise `limits` in [`roles`](identity.md#limits).
   */
  LIMIT_REACHED: FAILED,
  /**
   * No prompt has this name.
   * @fix Use a name from `prompts/list`.
   */
  PROMPT_UNKNOWN: PARAMS,
  /**
   * No resource has this URI. In protocol versions up to 2025-11-25, the JSON-RPC error is −32002.
   * @fix Use a URI from `resources/list`, or one that matches a template from `resources/templates/list`.
   */
  RESOURCE_UNKNOWN: PARAMS,
  /**
   * A parameter of the request is missing, invalid or unknown.
   * @fix Correct the parameters the message names.
   */
  PARAMS_INVALID: PARAMS,
  /**
   * Neither Switchboard nor the server knows this method.
   * @fix Check the method name and the protocol version of the client.
   */
  METHOD_UNKNOWN: { wire: METHOD_NOT_FOUND, exit: Exit.failed },
  /**
   * A suite was called without a valid `action`.
   * @fix Use `{"action":"introspect"}` or `{"action":"call","subtool":"…","args":{…}}`.
   */
  ACTION_INVALID: FAILED,
  /**
   * A suite was called without `subtool`.
   * @fix Name one; `{"action":"introspect"}` lists them.
   */
  SUBTOOL_MISSING: FAILED,
  /**
   * The server has no subtool with this name.
   * @fix Use a name from `{"action":"introspect"}`.
   */
  SUBTOOL_UNKNOWN: FAILED,
  /**
   * The configuration hides this subtool.
   * @fix Expose it: change `exposedTools`, `hiddenTools` or `expose` of that server.
   */
  SUBTOOL_NOT_ALLOWED: FAILED,
  /**
   * The server is split into a read-only tool and one for the rest. This subtool belongs to the other tool.
   * @fix Call it with the tool that the message names.
   */
  SUBTOOL_ELSEWHERE: FAILED,
  /**
   * The server has changed its tools: this tool does more than the suite's annotations said. It did not run,
   * because the client may not have asked the user. Or other tools now replace this one, as the message says.
   * @fix Call it again. The list of tools has been corrected, and the client may ask the user first.
   */
  TOOLS_CHANGED: FAILED,
  /**
   * The user was asked whether this tool may run (`approve`), and declined.
   * @fix Ask the user what to do instead.
   */
  CALL_DECLINED: FAILED,
  /**
   * This tool runs only after the user agrees (`approve`), and the user could not be asked: the client does not support
   * elicitation, has left, or nobody answered in time.
   * @fix Use a client that supports elicitation, or allow the tool with `switchboard trust SERVER TOOL --allow`.
   */
  CALL_NEEDS_APPROVAL: FAILED,
  /**
   * This tool is new, has changed since it was approved, or has hidden text, and `"pin": "block"` withholds it.
   * @fix Review it with `switchboard trust SERVER TOOL`, and approve it with `--approve`.
   */
  TOOL_WITHHELD: FAILED,
  /**
   * The tool changed before you approved it.
   * @fix Look at it again with `switchboard trust SERVER TOOL`.
   */
  TRUST_OUTDATED: FAILED,
  /**
   * A file with decisions about tools cannot be used: it is damaged, or other users could have written it.
   * @fix Check the file that the message names, or delete it to start over.
   */
  TRUST_UNREADABLE: FAILED,
  /**
   * The arguments of a tool have the wrong type.
   * @fix Pass an object, as the message shows.
   */
  ARGS_INVALID: FAILED,
  /**
   * The arguments of a subtool were next to `args` instead of inside it. The tool did not run.
   * @fix Repeat the call the message shows.
   */
  ARGS_MISPLACED: FAILED,
  /**
   * `verbosity` of `introspect` has an unknown value.
   * @fix Use one of the values in the message.
   */
  VERBOSITY_INVALID: FAILED,
  /**
   * No result with this ID is kept for this client: it has expired, was dropped, or never existed.
   * @fix Call the tool again.
   */
  RESULT_UNKNOWN: FAILED,
  /**
   * The parameters that select part of a kept result are invalid.
   * @fix Correct the parameter the message names; see [Read the rest](results.md#read-the-rest).
   */
  RESULT_SELECTION_INVALID: FAILED,
  /**
   * Searching a log or a kept result took too long.
   * @fix Use a simpler expression; with `switchyard logs`, use `--fixed` for plain text.
   */
  GREP_TIMEOUT: FAILED,
  /**
   * The call was cancelled.
   * @fix Nothing to do; call again if you still need the result.
   */
  CANCELLED: FAILED,
  /**
   * The server did not respond in time. The call was cancelled.
   * @fix Raise `timeouts.rpcMs` or `timeouts.callMaxMs`, or check the server's log.
   */
  CALL_TIMEOUT: FAILED,
  /**
   * The server's response was larger than the limit and was dropped.
   * @fix Ask for less at a time, or raise `limits.messageBytes`.
   */
  ANSWER_TOO_LARGE: FAILED,
  /**
   * The server's response is not valid JSON-RPC.
   * @fix This is a bug in that server; check its log.
   */
  ANSWER_UNREADABLE: FAILED,
  /**
   * The server's response is valid JSON-RPC but breaks the protocol.
   * @fix This is a bug in that server; check its log.
   */
  SERVER_ANSWER_UNUSABLE: FAILED,
  /**
   * The server returned an error.
   * @fix Read the message; it is the server's own.
   */
  SERVER_ERROR: FAILED,
  /**
   * Too many calls are waiting for this server.
   * @fix Try again when some of them have finished.
   */
  SERVER_BUSY: FAILED,
  /**
   * The server asked the client for input (elicitation, sampling or roots) and did not get it.
   * @fix Use a client that supports it, or answer the request.
   */
  INPUT_REFUSED: FAILED,
  /**
   * Switchboard is stopping, or the client has disconnected.
   * @fix Nothing to do.
   */
  STOPPING: FAILED,
  /**
   * Switchboard failed to handle the request. This is a bug.
   * @fix Report it with the log.
   */
  INTERNAL: FAILED,

  // ## Starting and running servers

  /**
   * The server could not be started.
   * @fix Read the server's last lines of output in the message, or run `switchboard doctor --start`.
   */
  START_FAILED: FAILED,
  /**
   * The server did not start in time and was not added.
   * @fix Add it again with a larger `timeout_ms`.
   */
  START_TIMEOUT: FAILED,
  /**
   * The server is still starting.
   * @fix Call again in a few seconds.
   */
  STILL_STARTING: FAILED,
  /**
   * The server crashed. `mcpmux` does not restart servers automatically.
   * @fix Reload it with `reload_server`.
   */
  SERVER_CRASHED: FAILED,
  /**
   * The server failed several times in a row. Switchboard waits before it tries again.
   * @fix Read the reason in the message and run `switchboard doctor`.
   */
  SERVER_FAILING: FAILED,
  /**
   * The connection to the server was lost before it responded.
   * @fix Call again; the server is restarted. Check its log if it keeps happening.
   */
  SERVER_LOST: FAILED,
  /**
   * The server was stopped.
   * @fix Start it again, or reload it.
   */
  SERVER_STOPPED: FAILED,
  /**
   * The server's entry in the configuration is invalid, or a variable it needs is not set.
   * @fix Correct the entry, or set the missing environment variable.
   */
  SERVER_UNUSABLE: CONFIG,
  /**
   * The server did not list its tools, resources or prompts.
   * @fix Check the server's log.
   */
  LIST_FAILED: FAILED,
  /**
   * Command not found.
   * @fix Install the program, or correct `command`. Put arguments in `args`.
   */
  COMMAND_NOT_FOUND: FAILED,
  /**
   * Permission denied: the file is not executable.
   * @fix Make it executable with `chmod +x`, or start it with its interpreter.
   */
  COMMAND_NOT_EXECUTABLE: FAILED,
  /**
   * The command cannot be run: its interpreter is missing, or an argument is invalid.
   * @fix Check the first line of the script and the arguments.
   */
  COMMAND_NOT_RUNNABLE: FAILED,
  /**
   * The working directory does not exist or cannot be entered.
   * @fix Correct `cwd`.
   */
  CWD_NOT_USABLE: FAILED,
  /**
   * The command line and environment are larger than the system allows.
   * @fix Shorten `args` or `env`.
   */
  ARGUMENTS_TOO_LONG: FAILED,
  /**
   * The system has no file descriptors left.
   * @fix Raise the limit with `ulimit -n`, or run fewer servers.
   */
  TOO_MANY_OPEN_FILES: FAILED,
  /**
   * The system or `http.maxProcesses` allows no more processes.
   * @fix End unused sessions, share servers with `"isolation": "shared"`, or raise the limit.
   */
  TOO_MANY_PROCESSES: FAILED,
  /**
   * The operating system refused to start the process.
   * @fix Read the system's error code in the message.
   */
  SPAWN_FAILED: FAILED,
  /**
   * The process was not started because the gateway is shutting down.
   * @fix Nothing to do.
   */
  SHUTTING_DOWN: FAILED,
  /**
   * A command that Switchboard ran, such as git, printed more than the limit and was stopped.
   * @fix Run the command yourself to see what it prints.
   */
  COMMAND_OUTPUT: FAILED,
  /**
   * A command that Switchboard ran, such as git, took too long and was stopped.
   * @fix Run the command yourself to see what it waits for.
   */
  COMMAND_TIMEOUT: FAILED,
  /**
   * Waiting was interrupted.
   * @fix Run the command again.
   */
  STOPPED: FAILED,
  /**
   * Another process holds a lock.
   * @fix Wait until it has finished, or stop it; the lock is released when that process exits.
   */
  LOCK_BUSY: FAILED,
  /**
   * The operating system refused a lock.
   * @fix Allow the program to listen on local sockets.
   */
  LOCK_FAILED: FAILED,
  /**
   * Too many gateways are nested: each started the next.
   * @fix Remove the server that starts a gateway with the same configuration.
   */
  NESTED_TOO_DEEP: FAILED,

  // ## Remote servers and logins

  /**
   * The remote server responded with something that is not MCP.
   * @fix Check the `url`. Leave out `type` to try both transports.
   */
  SERVER_ANSWERED_BADLY: FAILED,
  /**
   * The remote server requires a login, or refused the credentials.
   * @fix Run `switchboard auth NAME`, or correct the `Authorization` header.
   */
  LOGIN_NEEDED: FAILED,
  /**
   * The stored login has expired and cannot be renewed right now.
   * @fix Try again later.
   */
  LOGIN_UNAVAILABLE: FAILED,
  /**
   * The server directs the login to an address that is not allowed.
   * @fix Ask the operator of the server. Nothing was sent.
   */
  ADDRESS_REFUSED: FAILED,
  /**
   * The authorization server does not accept Switchboard as a client.
   * @fix Register a client there and set `oauth.clientId`.
   */
  AUTH_CLIENT: FAILED,
  /**
   * The login was denied.
   * @fix Run the command again and approve it in the browser.
   */
  AUTH_DENIED: FAILED,
  /**
   * The server does not say where to log in.
   * @fix Ask the operator of the server.
   */
  AUTH_DISCOVERY: FAILED,
  /**
   * The login failed.
   * @fix Run the command again; the message has the reason the authorization server gave.
   */
  AUTH_FAILED: FAILED,
  /**
   * The server does not require a login.
   * @fix Check its `url`. For another kind of token, use `headers`.
   */
  AUTH_NOT_ASKED: FAILED,
  /**
   * The port for the login's redirect is already in use.
   * @fix Set another `oauth.callbackPort`.
   */
  AUTH_PORT: FAILED,
  /**
   * The login was interrupted.
   * @fix Run the command again.
   */
  AUTH_STOPPED: FAILED,
  /**
   * The login cannot be saved.
   * @fix Check the permissions of the directory, or set `SWITCHBOARD_STATE_DIR`.
   */
  AUTH_STORE: FAILED,
  /**
   * The login was not finished in time.
   * @fix Run the command again.
   */
  AUTH_TIMEOUT: FAILED,
  /**
   * The authorization server cannot be reached.
   * @fix Check the network and try again.
   */
  AUTH_UNREACHABLE: FAILED,

  // ## Configuration

  /**
   * The configuration file does not exist.
   * @fix Create one with `switchboard init`, or correct `--config`.
   */
  CONFIG_NOT_FOUND: CONFIG,
  /**
   * The configuration file cannot be read or parsed.
   * @fix Correct it at the line the message names.
   */
  CONFIG_UNREADABLE: CONFIG,
  /**
   * The configuration is not valid.
   * @fix Correct the keys the message names.
   */
  CONFIG_INVALID: CONFIG,
  /**
   * Another program is changing the configuration.
   * @fix Try again. Nothing was changed.
   */
  CONFIG_BUSY: CONFIG,
  /**
   * The configuration is a JavaScript module, or is defined elsewhere, so commands cannot edit it.
   * @fix Edit the file the message names.
   */
  CONFIG_NOT_EDITABLE: CONFIG,
  /**
   * Permission denied: the configuration cannot be written.
   * @fix Check the permissions of the file and its directory. Nothing was changed.
   */
  CONFIG_NOT_WRITABLE: CONFIG,
  /**
   * A file pattern expands to too many patterns.
   * @fix Use fewer `{a,b}` groups.
   */
  GLOB_TOO_BROAD: CONFIG,
  /**
   * No server with this name is configured.
   * @fix `switchboard list` shows the names.
   */
  SERVER_UNKNOWN: USAGE,
  /**
   * A server with this name already exists.
   * @fix Choose another name, or use `--replace`.
   */
  SERVER_EXISTS: USAGE,
  /**
   * The server is defined in another file.
   * @fix Edit that file, or use `--user` or `--project`.
   */
  SERVER_ELSEWHERE: USAGE,
  /**
   * The definition of the server is not valid.
   * @fix Correct it, or set the missing environment variable.
   */
  SERVER_INVALID: USAGE,
  /**
   * The configuration of this project is not allowed yet on this machine.
   * @fix Review it and allow it with `switchboard allow`.
   */
  PROJECT_NOT_ALLOWED: FAILED,
  /**
   * Other users could have read or changed a file in the state directory, so Switchboard does not use it.
   * @fix Make the directory and the file accessible only to you (`chmod 700`, `chmod 600`), or delete the file.
   */
  STATE_NOT_PRIVATE: CONFIG,
  /**
   * The state directory cannot be written: the disk is full or read-only, or permission is denied.
   * @fix Check the free disk space and its permissions, or set `SWITCHBOARD_STATE_DIR`. Nothing was changed.
   */
  STATE_NOT_WRITABLE: FAILED,
  /**
   * The home directory is unknown: `HOME` is not set to an absolute path, and the system has no entry for the user.
   * @fix Set `HOME` to the full path of your home directory.
   */
  NO_HOME: FAILED,

  // ## Commands

  /**
   * The command, a flag or an argument is invalid.
   * @fix `switchboard help COMMAND` shows how to use it.
   */
  USAGE,
  /**
   * The output cannot be written.
   * @fix Check the disk and the directory given with `--output`.
   */
  OUTPUT_FAILED: FAILED,
  /**
   * No gateway is running with this configuration.
   * @fix Start your host; it starts the gateway.
   */
  NO_GATEWAY: FAILED,
  /**
   * No gateway with this ID or process ID is running.
   * @fix `switchboard status` shows those that are.
   */
  GATEWAY_UNKNOWN: FAILED,
  /**
   * The gateway is an earlier version, or does not accept requests, so only its servers are known.
   * @fix Restart the host that started it.
   */
  GATEWAY_TOO_OLD: FAILED,
  /**
   * The call was not recorded, or its record has been dropped. Calls are recorded only while a console or
   * `switchboard calls --follow` is running.
   * @fix Run `switchboard calls --follow`, and make the call again.
   */
  CALL_UNKNOWN: FAILED,
  /**
   * The client is no longer connected.
   * @fix Choose another client.
   */
  CLIENT_UNKNOWN: FAILED,
  /**
   * A command that the console ran failed. The message has its output.
   * @fix Follow the message, or run the command in a terminal.
   */
  COMMAND_FAILED: FAILED,
  /**
   * The console was started with `--read-only`, and the action changes something.
   * @fix Start it without `--read-only`.
   */
  CONSOLE_READ_ONLY: FAILED,
  /**
   * The log directory is not writable.
   * @fix Choose a directory you can write to.
   */
  LOG_DIRECTORY_UNUSABLE: CONFIG,
  /**
   * The log file is a link or not a regular file.
   * @fix Remove it, or choose another directory.
   */
  LOG_FILE_UNUSABLE: CONFIG,
  /**
   * The log level is unknown.
   * @fix Use `debug` or `info` in `MCP_PROXY_LOG_LEVEL`; `--log-level` supports more levels.
   */
  LOG_LEVEL_INVALID: CONFIG,
  /**
   * An unexpected failure inside Switchboard.
   * @fix Report it with the message.
   */
  BUG: FAILED,

  // ## Hosts

  /**
   * The host is not installed on this machine.
   * @fix Install it first, or use `--force` to write its configuration anyway.
   */
  HOST_NOT_FOUND: FAILED,
  /**
   * The host has an entry with this name that is not for Switchboard.
   * @fix Choose another name with `--name`, or replace it with `--force`.
   */
  HOST_ENTRY_TAKEN: FAILED,
  /**
   * The host's configuration file is damaged.
   * @fix Correct the file. Nothing was changed.
   */
  HOST_FILE_BROKEN: FAILED,
  /**
   * Another program is changing the host's configuration file.
   * @fix Close that program and try again. Nothing was changed.
   */
  HOST_FILE_BUSY: FAILED,
  /**
   * Permission denied: the host's configuration file cannot be written.
   * @fix Check the permissions of the file and its directory. Nothing was changed.
   */
  HOST_FILE_NOT_WRITABLE: FAILED,
  /**
   * The host's configuration file cannot be read.
   * @fix Check its permissions.
   */
  HOST_FILE_UNREADABLE: FAILED,
  /**
   * The host's configuration file is written in a way that cannot be edited safely.
   * @fix Edit the file yourself. Nothing was changed.
   */
  HOST_NOT_EDITABLE: FAILED,

  // ## HTTP

  /**
   * Port already in use.
   * @fix Stop the program that uses it, or choose another port; 0 picks a free one.
   */
  PORT_TAKEN: FAILED,
  /**
   * Cannot listen on this address.
   * @fix Use 127.0.0.1, and a port of 1024 or above.
   */
  ADDRESS_UNUSABLE: FAILED,
  /**
   * Listening for other machines requires a token that you set yourself.
   * @fix Set `http.token` or `SWITCHBOARD_HTTP_TOKEN`.
   */
  TOKEN_NEEDED: FAILED,
  /**
   * The token, or the file it is stored in, is invalid.
   * @fix Remove it to get a new one, or set one made with `openssl rand -hex 32`.
   */
  TOKEN_UNUSABLE: CONFIG,
  /**
   * A token with this name already exists.
   * @fix Choose another name, or revoke the token first with `switchboard token revoke NAME`.
   */
  TOKEN_EXISTS: USAGE,
  /**
   * No token has this name.
   * @fix `switchboard token list` shows the names.
   */
  TOKEN_UNKNOWN: USAGE,
  /**
   * The token cannot be saved.
   * @fix Check the permissions of the directory, or set `SWITCHBOARD_STATE_DIR`.
   */
  TOKEN_STORE: FAILED,

  // ## Replicas

  /**
   * The address of the store is invalid, or a variable or secret in it is not set.
   * @fix Write `"store": "redis://host:6379"`, with the password as `${secret:NAME}` or `${NAME}`.
   */
  STORE_INVALID: CONFIG,
  /**
   * Redis or Valkey cannot be reached or does not respond in time, or this program does not use the store.
   * @fix Check that it runs at the address of `store`, and try again, or use what the message names.
   */
  STORE_AWAY: FAILED,

  // ## Hooks

  /**
   * A hook refused a call, or withheld its result.
   * @fix The message has the reason. The hook is in the file that it names.
   */
  HOOK_REFUSED: FAILED,
  /**
   * A hook threw, took too long or returned something invalid, so the call failed.
   * @fix Correct the hook in the file that the message names, or remove it.
   */
  HOOK_FAILED: FAILED,

  // ## Secrets

  /**
   * The name or the value of a secret cannot be used, or no value was given.
   * @fix Give the name only, and type the value when asked, or send it over stdin: `switchboard secret set NAME < FILE`.
   */
  SECRET_INVALID: USAGE,
  /**
   * No secret has this name.
   * @fix List them: `switchboard secret list`.
   */
  SECRET_UNKNOWN: USAGE,
  /**
   * A secret cannot be stored or read: the keychain did not respond, or the file is damaged, not writable, or open to other users.
   * @fix Unlock the keychain, or set `SWITCHBOARD_SECRET_STORE=file`. For the file, follow the message.
   */
  SECRET_STORE: FAILED,

  // ## Managing servers at run time

  /**
   * The user did not approve adding the server.
   * @fix Ask the user before you try again.
   */
  NOT_APPROVED: FAILED,
  /**
   * The user cannot be asked for approval: the client does not support elicitation.
   * @fix Add the server with `switchboard add`. Set `"management": {"approval": "auto"}` only if the model may run any program.
   */
  APPROVAL_IMPOSSIBLE: FAILED,

  // ## Natural language

  /**
   * No model is configured, and the client offers none.
   * @fix Set `ANTHROPIC_API_KEY`, or `model` with `apiKey` or `baseUrl` under `language`.
   */
  LANGUAGE_NO_MODEL: FAILED,
  /**
   * The API key of the model is missing.
   * @fix Set the variable the message names, or `apiKey` under `language`.
   */
  LANGUAGE_KEY_MISSING: FAILED,
  /**
   * The model's provider refused the API key.
   * @fix Check the key and its permissions.
   */
  LANGUAGE_KEY_REFUSED: FAILED,
  /**
   * No model name is set for this address.
   * @fix Set `model` under `language`, or `SWITCHBOARD_LANGUAGE_MODEL`.
   */
  LANGUAGE_MODEL_MISSING: FAILED,
  /**
   * The provider does not have this model.
   * @fix Correct `model` or `baseUrl` under `language`.
   */
  LANGUAGE_MODEL_UNKNOWN: FAILED,
  /**
   * The address of the model is not a valid http(s) URL.
   * @fix Correct `baseUrl` under `language`.
   */
  LANGUAGE_BAD_ADDRESS: FAILED,
  /**
   * The model cannot be reached.
   * @fix Check the network and `baseUrl` under `language`.
   */
  LANGUAGE_UNREACHABLE: FAILED,
  /**
   * The key has no quota or credit left.
   * @fix Add credit, or use another model.
   */
  LANGUAGE_QUOTA: FAILED,
  /**
   * The provider refused the request.
   * @fix Check `model` and `baseUrl` under `language`.
   */
  LANGUAGE_REQUEST_REFUSED: FAILED,
  /**
   * The model, or the client that provides it, refused the request.
   * @fix Rephrase it, or allow it in the client.
   */
  LANGUAGE_REFUSED: FAILED,
  /**
   * The client's model failed.
   * @fix Configure your own model under `language`.
   */
  LANGUAGE_FAILED: FAILED,
  /**
   * The provider is overloaded.
   * @fix Try again later, or use another model.
   */
  LANGUAGE_OVERLOADED: FAILED,
  /**
   * The model's response is invalid.
   * @fix Check that `baseUrl` is an API of the configured `provider`, or use another model.
   */
  LANGUAGE_BAD_OUTPUT: FAILED,
  /**
   * The connection was lost in the middle of the model's response.
   * @fix Try again.
   */
  LANGUAGE_BROKEN_OFF: FAILED,
  /**
   * The model reached its token limit in the middle of a turn.
   * @fix Ask for less at a time, or raise `language.maxTokens`.
   */
  LANGUAGE_CUT_OFF: FAILED,
  /**
   * The model returned nothing and called no tool.
   * @fix Be more specific, or use another model.
   */
  LANGUAGE_NO_ANSWER: FAILED,
  /**
   * The server has no tool the model may use.
   * @fix Check `exposedTools`, `hiddenTools` and `expose` of the server.
   */
  LANGUAGE_NO_TOOLS: FAILED,
  /**
   * The model called a tool that does not exist, twice.
   * @fix Rephrase the request, or use another model.
   */
  LANGUAGE_UNKNOWN_TOOL: FAILED,
  /**
   * The model passed invalid arguments, twice.
   * @fix Rephrase the request, or use another model.
   */
  LANGUAGE_ARGUMENTS: FAILED,
  /**
   * The server could not run the tool that the model called, twice in a row.
   * @fix Check the server with `switchboard doctor`.
   */
  LANGUAGE_SERVER_GONE: FAILED,
  /**
   * The request needed more steps than allowed.
   * @fix Ask for less, or raise `language.maxSteps`.
   */
  LANGUAGE_STEPS: FAILED,
  /**
   * The request took too long.
   * @fix Ask for less, or raise `language.timeoutMs`.
   */
  LANGUAGE_TIMEOUT: FAILED,
  /**
   * The request needed more tokens than allowed.
   * @fix Ask for less, expose fewer tools, or raise `language.maxTokens`.
   */
  LANGUAGE_TOKENS: FAILED,
  /**
   * The request is longer than the model's context.
   * @fix Ask for less, expose fewer tools, or use a model with a larger context.
   */
  LANGUAGE_TOO_LONG: FAILED,
  /**
   * The server is already handling as many natural-language requests as allowed.
   * @fix Try again when some of them have finished.
   */
  LANGUAGE_BUSY: FAILED,
  /**
   * The file with the instructions for the model cannot be read.
   * @fix Create the file, or correct `instructionsFile`.
   */
  INSTRUCTIONS_UNREADABLE: FAILED,
  /**
   * The client's response to a request from Switchboard is invalid.
   * @fix This is a bug in the client.
   */
  CLIENT_ANSWER_UNUSABLE: FAILED,
  /**
   * The client does not support this request.
   * @fix Use a client that does.
   */
  CLIENT_CANNOT: FAILED,
  /**
   * The client disconnected before it responded.
   * @fix Nothing to do.
   */
  CLIENT_GONE: FAILED,
  /**
   * The server cannot be wrapped.
   * @fix Do what the message says.
   */
  WRAP_REFUSED: FAILED,
  /**
   * Wrapping the server failed.
   * @fix Check the permissions of the directory and the free disk space.
   */
  WRAP_FAILED: FAILED,
  /**
   * The directory of the server cannot be read.
   * @fix Check its permissions.
   */
  WRAP_UNREADABLE: FAILED,
  /**
   * The server cannot be unwrapped.
   * @fix Do what the message says.
   */
  UNWRAP_REFUSED: FAILED,
  /**
   * Unwrapping the server failed.
   * @fix Check the permissions of the directory and try again.
   */
  UNWRAP_FAILED: FAILED,

  // ## Switchyard

  /**
   * Switchyard does not run on Windows.
   * @fix Install [WSL](https://learn.microsoft.com/windows/wsl) and run it there.
   */
  SWITCHYARD_UNSUPPORTED: FAILED,
  /**
   * No `switchyard.toml` was found here or in a parent directory.
   * @fix Run `switchyard init`, or change to a project that has one.
   */
  NO_PROJECT: FAILED,
  /**
   * Another project on this machine has this name.
   * @fix Choose another name with `switchyard rename NAME`.
   */
  NAME_TAKEN: FAILED,
  /**
   * The project name has no letters or digits, or is more than one line.
   * @fix Use letters, digits and dashes.
   */
  NAME_INVALID: FAILED,
  /**
   * No known project has this name or path.
   * @fix `switchyard status --all` lists the projects of this machine.
   */
  PROJECT_UNKNOWN: FAILED,
  /**
   * Several projects have this name.
   * @fix Pass the path of the project instead.
   */
  PROJECT_AMBIGUOUS: FAILED,
  /**
   * The current directory no longer exists.
   * @fix Change to another directory.
   */
  NO_DIRECTORY: FAILED,
  /**
   * `switchyard.toml` is not valid.
   * @fix Correct the line and key the message names.
   */
  YARD_CONFIG: FAILED,
  /**
   * `switchyard.toml` already exists.
   * @fix Use `--force` to overwrite it, or `--dry-run` to compare.
   */
  YARD_EXISTS: FAILED,
  /**
   * `switchyard.toml` cannot be written.
   * @fix Check the permissions of the directory.
   */
  YARD_INIT: FAILED,
  /**
   * The command of a service cannot be parsed.
   * @fix Write it as a program with its arguments, quoted as in a shell.
   */
  COMMAND_SYNTAX: FAILED,
  /**
   * No service with this name is configured.
   * @fix Use a name from `switchyard.toml`.
   */
  UNKNOWN_SERVICE: FAILED,
  /**
   * No profile with this name is configured.
   * @fix Use a name from `[profiles]` in `switchyard.toml`.
   */
  UNKNOWN_PROFILE: FAILED,
  /**
   * The service is not running on this branch.
   * @fix Start it with `switchyard up`.
   */
  NOT_RUNNING: FAILED,
  /**
   * The service is running but not listening on its port.
   * @fix Read `switchyard logs`; pass `{port}` in its command.
   */
  NOT_LISTENING: FAILED,
  /**
   * Some processes of a service could not be stopped, so it was not started again.
   * @fix End them yourself, then run `switchyard up`.
   */
  NOT_STOPPED: FAILED,
  /**
   * All ports of the configured range are in use.
   * @fix Widen `[ports]` in `switchyard.toml`.
   */
  NO_FREE_PORT: FAILED,
  /**
   * No logs found for this service and branch.
   * @fix Start the service first.
   */
  NO_LOGS: FAILED,
  /**
   * The log file of a service cannot be written.
   * @fix Free disk space, or correct the permissions of the directory.
   */
  LOG_NOT_WRITABLE: FAILED,
  /**
   * The recorded log file is outside the log directory and is not read.
   * @fix Stop the service and start it again.
   */
  LOG_OUTSIDE: FAILED,
  /**
   * The branch has no worktree.
   * @fix Create one with `switchyard create BRANCH`; `switchyard list` shows all worktrees.
   */
  NO_WORKTREE: FAILED,
  /**
   * The directory of the worktree does not exist.
   * @fix Create it with `switchyard create BRANCH`.
   */
  WORKTREE_MISSING: FAILED,
  /**
   * Processes still use the worktree.
   * @fix End them and try again.
   */
  WORKTREE_BUSY: FAILED,
  /**
   * The worktree has uncommitted changes, or commits on no branch.
   * @fix Commit them, or use `--force` to discard them.
   */
  WORKTREE_DIRTY: FAILED,
  /**
   * The branch is checked out in another directory.
   * @fix Use it there, or move it with `git worktree move`.
   */
  WORKTREE_ELSEWHERE: FAILED,
  /**
   * The worktree contains the worktree of another branch.
   * @fix Remove or move that one first.
   */
  WORKTREE_HOLDS_OTHERS: FAILED,
  /**
   * The project of this worktree is unknown or gone.
   * @fix Create the worktree again from its project.
   */
  WORKTREE_ORPHAN: FAILED,
  /**
   * This is the project's own checkout, not a worktree, and is never removed.
   * @fix Stop its services with `switchyard down`.
   */
  IS_PROJECT: FAILED,
  /**
   * The directory for the worktree exists and is not empty.
   * @fix Move it elsewhere, or choose another directory with `--path`.
   */
  PATH_TAKEN: FAILED,
  /**
   * Several remotes have this branch.
   * @fix Choose one with `--base`.
   */
  BRANCH_AMBIGUOUS: FAILED,
  /**
   * Services of another branch are recorded for this worktree.
   * @fix Stop them with `switchyard down --branch BRANCH`.
   */
  BRANCH_BUSY: FAILED,
  /**
   * Two branch names become the same host name.
   * @fix Rename one of them, or stop the other.
   */
  BRANCH_COLLISION: FAILED,
  /**
   * The branch name is not valid.
   * @fix Use a name that git accepts.
   */
  BRANCH_NAME: FAILED,
  /**
   * `--base` is not a commit.
   * @fix Use a branch, a tag or a commit.
   */
  GIT_BASE: FAILED,
  /**
   * A git command failed.
   * @fix Read git's message.
   */
  GIT_FAILED: FAILED,
  /**
   * Command not found: git.
   * @fix Install git, or add it to `PATH`.
   */
  GIT_MISSING: FAILED,
  /**
   * The project is not in a git repository.
   * @fix Run `git init` and commit something.
   */
  NOT_A_REPOSITORY: FAILED,
  /**
   * A file cannot be copied into itself.
   * @fix Put the worktree elsewhere, or copy less.
   */
  COPY_INTO_ITSELF: FAILED,
  /**
   * The `cwd` of a service leads outside the worktree.
   * @fix Use a directory of the worktree itself.
   */
  CWD_ESCAPES: FAILED,
  /**
   * A path under `[env]` leads outside the project or the worktree.
   * @fix Use a path inside the project.
   */
  ENV_ESCAPES: FAILED,
  /**
   * The worktree was created, but some of its env files were not.
   * @fix Fix the cause and run `switchyard create BRANCH` again; it adds the missing files.
   */
  ENV_SYNC: FAILED,
  /**
   * The address is not a loopback address.
   * @fix Use 127.0.0.1, localhost or ::1.
   */
  NOT_LOOPBACK: FAILED,
  /**
   * Port already in use: the proxy cannot listen.
   * @fix Stop the program that uses it, or set another `[proxy]` port.
   */
  PROXY_PORT: FAILED,
  /**
   * The proxy exited immediately after it started.
   * @fix Read its log.
   */
  PROXY_START: FAILED,
  /**
   * The proxy could not be stopped.
   * @fix Read its log, or end the process yourself.
   */
  PROXY_STUCK: FAILED,
  /**
   * The forwarder ended while it was in use.
   * @fix Run the command again.
   */
  FORWARDER_GONE: FAILED,
  /**
   * The forwarder did not start.
   * @fix Read its log.
   */
  FORWARDER_START: FAILED,
  /**
   * The forwarder could not be stopped.
   * @fix End the process yourself.
   */
  FORWARDER_STUCK: FAILED,
  /**
   * The directory for the forwarder's socket belongs to another user.
   * @fix Remove it, or set another `SWITCHYARD_HOME`.
   */
  CONTROL_SOCKET: FAILED,
  /**
   * Permission denied or disk full: Switchyard's home cannot be created.
   * @fix Free disk space, correct the permissions, or set `SWITCHYARD_HOME`.
   */
  HOME_NOT_WRITABLE: FAILED,
  /**
   * A newer version of Switchyard wrote the state file.
   * @fix Update Switchyard, or set another `SWITCHYARD_HOME`.
   */
  STATE_NEWER: FAILED,
  /**
   * The state file cannot be read.
   * @fix Check its permissions, or move the file elsewhere.
   */
  STATE_UNREADABLE: FAILED,
  /**
   * The operating system refused an operation.
   * @fix Check free disk space and file permissions.
   */
  SYSTEM: FAILED,
  /**
   * The name for the MCP server has characters that are not allowed.
   * @fix Use letters, digits, underscores and dashes.
   */
  ALIAS_INVALID: FAILED,
  /**
   * The project with this name no longer has a `switchyard.toml`.
   * @fix Run `switchyard mcp install` again from the project.
   */
  ALIAS_STALE: FAILED,
  /**
   * The name belongs to another project.
   * @fix Use `--name` for another name, or `--force` to replace it.
   */
  ALIAS_TAKEN: FAILED,
  /**
   * No project with this name is registered.
   * @fix `switchyard mcp projects` lists the names.
   */
  ALIAS_UNKNOWN: FAILED,
  /**
   * `cwd` is not a directory.
   * @fix Pass a directory of the project.
   */
  CWD_MISSING: FAILED,
  /**
   * `cwd` is outside the project of this MCP server.
   * @fix Pass a directory of the project or one of its worktrees.
   */
  CWD_OUTSIDE: FAILED,
  /**
   * The project is not registered, so its services are not started over MCP.
   * @fix Run `switchyard mcp install` in the project.
   */
  PROJECT_NOT_INSTALLED: FAILED,
  /**
   * The skill is already installed.
   * @fix Use `--force` to replace it, or `--target` for another directory.
   */
  SKILL_EXISTS: FAILED,
  /**
   * The skill cannot be written.
   * @fix Check the permissions of the directory, or use `--target`.
   */
  SKILL_INSTALL: FAILED,
  /**
   * The smoke test of the MCP server failed.
   * @fix Read the message.
   */
  SMOKE_FAILED: FAILED,
} as const satisfies Record<string, ErrorCodeInfo>;

export type ErrorCode = keyof typeof ERROR_CODES;
