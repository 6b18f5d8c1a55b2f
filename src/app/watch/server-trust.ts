import type { ServerDefinition } from '../../config/index.ts';
import type { ServerTrust, ToolToReview } from '../../console/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { revealedLine } from '../../shared/printable.ts';
import { unifiedDiff } from '../../shared/unified-diff.ts';
import type { ToolReview } from '../../trust/index.ts';
import type { TrustReview } from '../trust.ts';

/** The tools of a server that need a review. */
export async function serverTrust(server: ServerDefinition, trust: TrustReview): Promise<ServerTrust> {
  await trust.settle();
  const { since = null, problem = null, overflow, tools } = trust.of(server);
  return { pin: server.pin ?? 'warn', since, problem, overflow, tools: tools.flatMap(toolToReview) };
}

/** Throws TRUST_OUTDATED if the tool has changed since. */
export async function approveTool(
  server: ServerDefinition,
  { tool, hash }: { readonly tool: string; readonly hash: string },
  trust: TrustReview,
): Promise<void> {
  await trust.settle();
  const found = trust.of(server).tools.find(({ name }) => name === tool);
  if (found === undefined)
    throw new SwitchboardError('TOOL_UNKNOWN', `The server '${server.name}' has not listed this tool.`);
  await trust.approve(server, [{ ...found, hash }]);
}

function toolToReview({ state, pinned, now, first, ...tool }: ToolReview): ToolToReview[] {
  if (state === 'pinned') return [];
  const said = now ?? first;
  const { name, hash, changes, findings = [] } = tool;
  return [
    {
      name: revealedLine(name),
      id: name,
      state,
      hash,
      changes,
      since: said?.since ?? null,
      findings: findings.map(revealedLine),
      diff:
        said?.text === undefined
          ? null
          : unifiedDiff(pretty(pinned?.text), pretty(said.text)).map(revealedLine).join('\n'),
    },
  ];
}

function pretty(text: string | undefined): string {
  return text === undefined ? '' : JSON.stringify(JSON.parse(text), null, 2);
}
