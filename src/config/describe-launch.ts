import { isObject } from '../shared/is-object.ts';
import { revealedLine } from '../shared/printable.ts';
import { shellWord } from '../shared/shell-word.ts';
import type { ServerCandidate } from './candidate.ts';
import { isModule, readJsonFile } from './read.ts';
import type { StdioServer } from './schema/config.ts';

/** What a server would start or connect to, as written, on one line. */
export function describeLaunch({ name, file, definition }: ServerCandidate): string {
  if (isModule(file)) return revealedLine(`${file} is a program and runs when it is read`);
  switch (definition.kind) {
    case 'stdio': {
      const { command, args = [], env = {}, cwd, envFile, language } = definition.server;
      const inner = typeof command === 'string' ? { cmd: command } : command;
      const words = [inner.cmd, ...(inner.args ?? []), ...args].map((word) => shellWord(word)).join(' ');
      return line(name, words, [
        ...(cwd === undefined ? [] : [`in ${cwd}`]),
        ...variablesSet({ ...inner.env, ...env }),
        ...(envFile === undefined ? [] : [`reads variables from ${envFile}`]),
        ...modelBefore(language),
      ]);
    }
    case 'remote':
      return line(name, definition.server.url.text, [
        ...definition.server.headers.map((header) => `sends ${header.name}${referredTo(header.text)}`),
        ...modelBefore(definition.server.settings.language),
      ]);
    case 'builtin':
      return revealedLine(`${name}: ${definition.server.builtin}, built in`);
    default:
      return revealedLine(`${name}: its definition is invalid`);
  }
}

/** What a program that is not a server would run, on one line. */
export function describeCommand(
  name: string,
  command: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): string {
  return line(name, command, [...(cwd === '' ? [] : [`in ${cwd}`]), ...variablesSet(env)]);
}

/** Which variables programs would get, on one line; empty if none. */
export function describeVariables(name: string, env: Readonly<Record<string, string>>): string[] {
  return variablesSet(env).map((set) => line(name, set, []));
}

/**
 * The variables that a program gets, with those of the user that they refer to. Variables that determine what runs are
 * shown with their values.
 */
function variablesSet(env: Readonly<Record<string, string | number | boolean>>): string[] {
  const all = Object.entries(env).map(([name, value]) =>
    DECISIVE.test(name) ? `${name}=${shellWord(String(value))}` : `${name}${referredTo(String(value))}`,
  );
  return all.length === 0 ? [] : [`sets ${all.join(', ')}`];
}

/** Variables that can make a harmless command load or run something else. */
const DECISIVE = new RegExp(
  '^(?:' +
    [
      'PATH|PATHEXT|ENV|BASH_ENV|SHELL|COMSPEC|CLASSPATH',
      'LD_.*|DYLD_.*|GIT_(?:SSH|EXEC|ASKPASS|CONFIG|EDITOR|PAGER|PROXY).*',
      'NODE_OPTIONS|NODE_PATH|PYTHON[A-Z]+|PERL5?(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)',
      'JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS',
      'npm_config_(?:registry|script_shell|node_options|userconfig|globalconfig|prefix)',
      'UV_(?:DEFAULT_)?INDEX(?:_URL)?|PIP_(?:EXTRA_)?INDEX_URL',
    ].join('|') +
    ')$',
  'i',
);

/** Returns, for example, ` from GITHUB_TOKEN` for a text that refers to variables and secrets. */
function referredTo(text: string): string {
  const names = [...text.matchAll(/(?<!\$)\$\{(?:(?:env:)?([A-Za-z_]\w*)(?=\}|:-)|secret:([\w.-]+))/g)].map(
    ([, variable, secret = '']) => variable ?? `the secret ${secret}`,
  );
  return names.length === 0 ? '' : ` from ${[...new Set(names)].join(', ')}`;
}

/** The language model in front of a server: its address, instructions and key. */
function modelBefore(language: StdioServer['language']): string[] {
  if (language === undefined || language === false) return [];
  const { model, provider, baseUrl, apiKey, instructions, instructionsFile, allowDestructive } =
    language === true ? ({} as Partial<Exclude<typeof language, boolean>>) : language;
  return [
    `uses a language model${model === undefined ? '' : `, ${model}`}${provider === undefined ? '' : ` of ${provider}`}`,
    ...(baseUrl === undefined ? [] : [`model at ${baseUrl}`]),
    ...(apiKey === undefined ? [] : [`sends the model an API key${referredTo(apiKey)}`]),
    ...(instructions === undefined ? [] : [`instructs the model: ${JSON.stringify(instructions)}`]),
    ...(instructionsFile === undefined ? [] : [`instructs the model with ${instructionsFile}`]),
    ...(allowDestructive === true ? ['lets the model run destructive tools without asking'] : []),
  ];
}

function line(name: string, what: string, more: readonly string[]): string {
  return revealedLine(`${name}: ${what}${more.length === 0 ? '' : ` (${more.join('; ')})`}`);
}

/** The settings that a configuration file contains besides its servers, as one line; empty if there are none. */
export function describeSettings(file: string | undefined): string[] {
  if (file === undefined || isModule(file)) return [];
  try {
    const value = readJsonFile(file);
    const keys = isObject(value) ? Object.keys(value).filter((key) => !NO_SETTINGS.has(key)) : [];
    return keys.length === 0 ? [] : [revealedLine(`It also sets ${keys.join(', ')}.`)];
  } catch {
    return [];
  }
}

const NO_SETTINGS = new Set(['$schema', 'mcpServers']);
