import { fstatSync } from 'node:fs';
import { GLOBAL_FLAGS } from './flags.ts';
import { parseArguments } from '../kit/arguments.ts';
import { ignoredPaths } from '../../shared/paths.ts';
import { printableLine } from '../../shared/printable.ts';
import type { CliVariant } from './variants.ts';
import { serve } from './serve/serve.ts';
import { writeStderr } from '../kit/stderr.ts';

/**
 * The program: serves the host that started it, or runs a command. Returns the exit code.
 *
 * Hosts wait for the first of the two, so nothing of the second is loaded for it.
 */
export async function runProgram(argv: readonly string[], variant: CliVariant): Promise<number> {
  // Before flags are looked at: they are not those of other commands.
  if (argv[0] === WRAPPED && variant.program === 'switchboard') {
    const { serveWrapped } = await import('./serve/serve-wrapped.ts');
    return serveWrapped(argv.slice(1), variant);
  }
  if (argv[0] === '__complete') {
    const { completeCommand } = await import('./complete.ts');
    return completeCommand(argv.slice(1), variant);
  }
  for (const said of ignoredPaths()) writeStderr(`${variant.program}: ${printableLine(said)}\n`);
  const request = asksToServe(argv, variant);
  if (request === undefined) {
    const { runCommand } = await import('./run-command.ts');
    return runCommand(argv, variant);
  }
  try {
    return await serve(request, variant);
  } catch (error) {
    const { standardFormat, writeFailure } = await import('../kit/output.ts');
    return await writeFailure(error, request.http?.json === true, standardFormat(variant.program));
  }
}

/** How the script of a wrapped server asks for what it is; its folder follows. */
const WRAPPED = 'language-server';

/** What to serve with; undefined when something else is asked for, or asked for wrongly. */
function asksToServe(argv: readonly string[], variant: CliVariant): Parameters<typeof serve>[0] | undefined {
  try {
    const { flags, words } = parseArguments(argv, GLOBAL_FLAGS);
    if (words.length > 0 || (flags.has('http') && flags.has('sse'))) return undefined;
    const port = variant.listens?.portVariable && process.env[variant.listens.portVariable];
    const byPort = port && !flags.has('stdio') && !isStartedByHost() ? port : undefined;
    const http = flags.get('http') ?? flags.get('sse') ?? byPort;
    for (const name of flags.keys())
      if (!SERVING.has(name) && !(http !== undefined && SERVING_HTTP.has(name))) return undefined;
    if (http === undefined && process.stdin.isTTY && !flags.has('stdio')) return undefined;
    return {
      configPath: flags.get('config'),
      logLevel: flags.get('log-level'),
      logFormat: flags.get('log-format'),
      logTime: flags.has('log-time'),
      allowProject: flags.has('allow-project'),
      ...(http === undefined
        ? {}
        : {
            http: {
              address: http === '' ? (port ?? '') : http,
              from:
                flags.get('http') || flags.get('sse')
                  ? '--http'
                  : (variant.listens?.portVariable ?? '--http'),
              allowRemote: flags.has('allow-remote'),
              showToken: flags.has('show-token'),
              json: flags.has('json'),
              stdio: flags.has('stdio'),
            },
          }),
    };
  } catch {
    return undefined;
  }
}

/**
 * Whether a host talks to us over a pipe. A host may have a PORT of its own in its environment, and gives it to whatever
 * it starts.
 */
function isStartedByHost(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

const SERVING = new Set('config allow-project log-level log-format log-time stdio http sse'.split(' '));
/** Flags that apply only to HTTP clients. */
const SERVING_HTTP = new Set(['allow-remote', 'show-token', 'json']);
