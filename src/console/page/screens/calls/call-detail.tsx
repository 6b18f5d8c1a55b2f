import type { ComponentChildren } from 'preact';
import type { CallInfo, KeptText } from '../../../protocol.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { formatBytes, formatCount, formatDate, formatMs } from '../../parts/format.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Detail, Fact, Facts, Section } from '../../parts/layout.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { EmptyState } from '../../parts/notice.tsx';
import { isToolResult, ToolResult } from '../../parts/tool-result.tsx';
import { gatewayTitle } from '../../state/gateway-choice.ts';
import { callKey, calls, keyIn } from '../../state/live.ts';
import { useLoaded } from '../../state/load.ts';
import { actAndTell } from '../../state/messages.ts';
import { hrefOf } from '../../state/route.ts';
import { callName } from './call-text.ts';
import { Outcome } from './outcome.tsx';

interface CallDetailProps {
  readonly gateway: string;
  readonly id: string;
  readonly onClose: () => void;
}

export function CallDetailPane({ gateway, id, onClose }: CallDetailProps): ComponentChildren {
  const call = calls.value.find((each) => callKey(each) === keyIn(gateway, id));
  if (call === undefined)
    return (
      <Detail label="Call" title="Call" onClose={onClose}>
        <EmptyState title="This call is no longer recorded">
          <p>The page keeps the last 10,000 calls, and a gateway the last 2,000.</p>
        </EmptyState>
      </Detail>
    );
  return (
    <Detail
      label={`Call of ${callName(call)}`}
      title={
        <>
          {callName(call)} <Outcome call={call} />
        </>
      }
      onClose={onClose}
      actions={<CallActions call={call} />}
    >
      <Facts>
        <Fact name="Client">{call.clientName ?? call.client}</Fact>
        <Fact name="Server">
          {call.server === null ? (
            'the gateway'
          ) : (
            <a href={hrefOf('servers', [gateway, call.server])}>{call.server}</a>
          )}
        </Fact>
        <Fact name="Method">{call.method}</Fact>
        <Fact name="Called as">{call.name ?? '—'}</Fact>
        <Fact name="Started">{formatDate(call.at)}</Fact>
        <Fact name="Duration">{formatMs(call.ms)}</Fact>
        <Fact name="Request">{formatBytes(call.requestBytes)}</Fact>
        <Fact name="Result">{formatBytes(call.bytes)}</Fact>
        <Fact name="Gateway">{gatewayTitle(gateway)}</Fact>
      </Facts>
      <Texts call={call} />
    </Detail>
  );
}

function CallActions({ call }: { call: CallInfo }): ComponentChildren {
  const { gateway, id, client } = call;
  return (
    <>
      {call.ms === null ? (
        <Button
          icon="stop"
          changes
          onClick={() => actAndTell('cancel', callName(call), 'calls.cancel', { gateway, call: id })}
        >
          Cancel
        </Button>
      ) : null}
      {call.server !== null && call.method === 'tools/call' ? (
        <a
          class="button"
          href={hrefOf('try', [gateway, call.server, call.subtool ?? call.name ?? ''], { call: id })}
        >
          Try this tool
        </a>
      ) : null}
      <a
        class="button"
        href={hrefOf('calls', [gateway, id], { client: keyIn(gateway, client), view: 'time' })}
      >
        Show in timeline
      </a>
    </>
  );
}

function Texts({ call }: { call: CallInfo }): ComponentChildren {
  // Reloaded when the call ends, because then there is a result.
  const [detail, load] = useLoaded('calls.get', { gateway: call.gateway, call: call.id }, call.outcome);
  return (
    <LoadedPart loaded={detail} what="arguments and result" onRetry={load}>
      {(known) => (
        <>
          <Section
            title="Arguments"
            actions={known.arguments === null ? null : <CopyButton text={known.arguments.text} />}
          >
            <Kept kept={known.arguments} label="Arguments" />
          </Section>
          <Section title="Result">
            {call.ms === null ? (
              <p class="muted">Still running.</p>
            ) : (
              <Kept kept={known.result} label="Result" />
            )}
          </Section>
        </>
      )}
    </LoadedPart>
  );
}

function Kept({ kept, label }: { kept: KeptText | null; label: string }): ComponentChildren {
  if (kept === null || (kept.text === '' && kept.length > 0))
    return <p class="muted">Not recorded: too long, or no console was open.</p>;
  const value = parsed(kept.text);
  if (value !== undefined)
    return isToolResult(value) ? <ToolResult result={value} /> : <JsonTree value={value} label={label} />;
  return (
    <>
      <pre class="code code-tall" tabIndex={0} aria-label={label}>
        {kept.text}
      </pre>
      {kept.length > kept.text.length ? (
        <p class="muted">
          The first {formatCount(kept.text.length)} of {formatCount(kept.length)} characters.
        </p>
      ) : null}
    </>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
