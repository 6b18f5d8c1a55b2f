import { isDeepStrictEqual } from 'node:util';
import type { ServerDefinition } from './resolve.ts';
import type { Pattern, ToolSettings } from './tool-settings.ts';

/**
 * What it takes to go from one definition of a server to another: `process` where it must be started anew, `shown` where
 * only its looks differ, `same` for nothing. Where the two were written does not count.
 */
export function compareServers(
  before: ServerDefinition,
  after: ServerDefinition,
): 'same' | 'shown' | 'process' {
  if (!isDeepStrictEqual(processOf(before), processOf(after))) return 'process';
  return isDeepStrictEqual(looksOf(before), looksOf(after)) ? 'same' : 'shown';
}

// Lists, not objects: a member that is left out and one that is undefined mean the same.

function processOf(server: ServerDefinition): unknown[] {
  const { name, command, args, cwd, env, inheritEnv, framing, timeouts } = server;
  // How long it may be idle can be changed while it runs, and how long we drain is nothing to it.
  return [name, command, args, cwd, env, inheritEnv, framing, { ...timeouts, idleMs: 0, drainMs: 0 }];
}

function looksOf(server: ServerDefinition): unknown[] {
  const { description, switchboardDescription, written, exposure, naming, offer, tools, suite, timeouts } =
    server;
  return [
    ...[description, switchboardDescription, exposure, naming, offer, timeouts.idleMs],
    ...[written.command, written.args, written.cwd],
    ...[suite.name, suite.description, suite.summaryMaxChars, suite.mode],
    ...toolsOf(tools),
  ];
}

function toolsOf({ allow, deny, shapes }: ToolSettings): unknown[] {
  const words = (patterns: readonly Pattern[] | undefined): unknown =>
    patterns?.map(({ pattern, literal }) => [pattern, literal]);
  const looks = [...shapes].map(
    ([tool, { exposed, description, presets, redact }]) =>
      [tool, [exposed, description, presets, redact]] as const,
  );
  return [words(allow), words(deny), new Map(looks)];
}
