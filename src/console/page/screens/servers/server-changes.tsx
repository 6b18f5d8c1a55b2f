import type { ComponentChildren } from 'preact';
import type { ServerInfo, ServerTrust, ToolToReview } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { Diff } from '../../parts/diff.tsx';
import { plural } from '../../parts/format.ts';
import { Section } from '../../parts/layout.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { useLoaded } from '../../state/load.ts';
import { actAndTell } from '../../state/messages.ts';

/** The tools of a server that have changed since their first use, and how. */
export function ServerChanges({ server }: { server: ServerInfo }): ComponentChildren {
  const { gateway, name, toReview } = server;
  const params = { gateway, server: name };
  const [trust, load] = useLoaded('servers.trust', params, toReview);
  const approve = async (tools: readonly ToolToReview[]): Promise<void> => {
    for (const { id, name: tool, hash } of tools) {
      const { ok } = await actAndTell('approve', tool, 'servers.approve', { ...params, tool: id, hash });
      if (!ok) break;
    }
    await load();
  };
  return (
    <LoadedPart loaded={trust} what="the changes" onRetry={load}>
      {(value) => (
        <>
          <p class="muted">{summaryOf(value)}</p>
          {value.tools.length > 1 ? (
            <Button
              changes
              onClick={() => approve(value.tools)}
            >{`Approve all ${value.tools.length}`}</Button>
          ) : null}
          {value.tools.map((tool) => (
            <ChangedTool key={tool.id} tool={tool} onApprove={() => approve([tool])} />
          ))}
        </>
      )}
    </LoadedPart>
  );
}

function ChangedTool({
  tool,
  onApprove,
}: {
  tool: ToolToReview;
  onApprove: () => Promise<void>;
}): ComponentChildren {
  const { name, findings, diff } = tool;
  return (
    <Section
      title={name}
      actions={
        <Button kind="main" changes title={`Approve ${name} as shown here`} onClick={onApprove}>
          Approve
        </Button>
      }
    >
      <p>{headline(tool)}</p>
      {findings.map((finding) => (
        <p key={finding} class="problem-line">
          {finding}
        </p>
      ))}
      {diff === null ? (
        <p class="muted">The definition is not stored: it is too long, or contains a secret.</p>
      ) : (
        <Diff text={diff} label={`Changes to ${name}`} />
      )}
    </Section>
  );
}

function headline({ state, since, changes }: ToolToReview): string {
  const when = since === null ? '' : ` on ${since.slice(0, 10)}`;
  const often = changes > 1 ? `, ${changes} times` : '';
  switch (state) {
    case 'changed':
      return `Changed${when}${often}.`;
    case 'restored':
      return `Changed${often}, and changed back.`;
    case 'new':
      return `New${when}.`;
    case 'suspicious':
      return `Has hidden or misleading text, found${when}.`;
  }
}

function summaryOf({ since, problem, overflow, pin, tools }: ServerTrust): string {
  if (problem !== null) return problem;
  if (pin === 'off') return 'Changes are not recorded: "pin" is "off" for this server.';
  if (since === null) return 'Its tools have not been used yet.';
  if (tools.length === 0) return `No tool has changed since the first use on ${since.slice(0, 10)}.`;
  const effect = pin === 'block' ? 'Calls fail until you approve the changes' : 'Calls still work';
  const more = overflow ? ' The server has more tools than can be stored.' : '';
  return `${plural(tools.length, 'tool')} to review since the first use on ${since.slice(0, 10)}. ${effect}.${more}`;
}
