import { describeWarning, MANAGEMENT_TOOLS, type ConfiguredServer } from '../config/index.ts';
import { redacted, toolSettingWarnings } from '../exposure/index.ts';
import type { Call } from '../gateway/index.ts';
import type { ServerManager } from '../management/index.ts';
import { Client } from '../protocol/index.ts';
import type { Logger } from '../shared/log.ts';
import type { UpstreamContext } from '../upstream/index.ts';

/** Warns once about each setting for a tool that its server does not have. */
export function warnAboutToolSettings(
  find: (server: string) => ConfiguredServer | undefined,
  log: Logger,
): UpstreamContext['listed'] {
  const logged = new Set<string>();
  return (name, kind, listing) => {
    const server = kind === 'tools' ? find(name) : undefined;
    if (server === undefined) return;
    for (const warning of toolSettingWarnings(server.tools, listing)) {
      const text = describeWarning(warning);
      if (logged.has(text)) continue;
      logged.add(text);
      log.warn(text, { server: name });
    }
  };
}

/** The arguments of a call without the fields whose names mark them as secret. What starts a program is never shown. */
export function argumentsForLog(
  call: Call,
  server: string | undefined,
  manager: ServerManager,
): string | undefined {
  const name = call.request.string(Client.name);
  if (server === undefined && MANAGEMENT_TOOLS.some((tool) => tool === name)) return undefined;
  return redacted(call.request.value(Client.arguments), new Set(redactedFields(manager, server)));
}

/** The arguments that the configuration hides, for the tools of one server or of all. */
export function redactedFields(manager: ServerManager, server: string | undefined): string[] {
  return (
    manager
      .list()
      // A tool of several servers may concern any of them.
      .filter(({ definition }) => server === undefined || definition.name === server)
      .flatMap(({ definition }) =>
        [...definition.tools.shapes.values()].flatMap((shape) => shape.redact ?? []),
      )
  );
}
