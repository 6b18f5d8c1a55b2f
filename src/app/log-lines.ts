import { describeWarning, MANAGEMENT_TOOLS, type ConfiguredServer } from '../config/index.ts';
import { redacted, toolSettingWarnings } from '../exposure/index.ts';
import type { Call } from '../gateway/index.ts';
import type { Control } from '../management/index.ts';
import { Client } from '../protocol/index.ts';
import type { Logger } from '../shared/log.ts';
import type { Surroundings } from '../upstream/index.ts';

/** Warns once of each setting about tools that a server turns out not to have. */
export function warnAboutSlips(
  find: (server: string) => ConfiguredServer | undefined,
  log: Logger,
): Surroundings['listed'] {
  const told = new Set<string>();
  return (name, kind, listing) => {
    const server = kind === 'tools' ? find(name) : undefined;
    if (server === undefined) return;
    for (const slip of toolSettingWarnings(server.tools, listing)) {
      const text = describeWarning(slip);
      if (told.has(text)) continue;
      told.add(text);
      log.warn(text, { server: name });
    }
  };
}

/** The arguments of a call without the fields that are named as secret. What starts a program is never shown. */
export function argumentsForLog(
  call: Call,
  server: string | undefined,
  control: Control,
): string | undefined {
  const name = call.request.string(Client.name);
  if (server === undefined && MANAGEMENT_TOOLS.some((tool) => tool === name)) return undefined;
  const fields = control
    .list()
    // A tool of several servers may be about any of them.
    .filter(({ definition }) => server === undefined || definition.name === server)
    .flatMap(({ definition }) =>
      [...definition.tools.shapes.values()].flatMap((shape) => shape.redact ?? []),
    );
  return redacted(call.request.value(Client.arguments), new Set(fields));
}
