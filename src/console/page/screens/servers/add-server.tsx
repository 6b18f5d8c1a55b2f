import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { EntryJson, Problem, ServerToAdd } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/fields.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { act } from '../../state/act.ts';
import { chosenGateway, gatewayTitle } from '../../state/gateway-choice.ts';
import { gateways } from '../../state/live.ts';
import { tell } from '../../state/messages.ts';
import { goTo, hrefOf } from '../../state/route.ts';

const TYPING_MS = 250;

/** Adds servers from any text that a README tells people to paste. */
export function AddServer({ onClose }: { onClose: () => void }): ComponentChildren {
  const id = useId();
  const input = useRef<HTMLTextAreaElement>(null);
  // After the dialog has opened, which focuses its first button.
  useEffect(() => input.current?.focus(), []);
  const live = [...gateways.value.values()].filter((each) => each.live);
  const [gateway, setGateway] = useState(
    chosenGateway.value === '' ? (live[0]?.id ?? '') : chosenGateway.value,
  );
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly ServerToAdd[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);

  useEffect(() => {
    setProblem(null);
    if (text.trim() === '') {
      setFound([]);
      return;
    }
    let current = true;
    const timer = setTimeout(() => {
      void act('servers.parse', { text }).then((response) => {
        if (!current) return;
        setFound(response.ok ? response.result.servers : []);
        setProblem(response.ok ? null : response.error);
      });
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);

  const add = async (): Promise<void> => {
    for (const server of found) {
      const response = await act('servers.add', { gateway, server });
      if (!response.ok) {
        setProblem(response.error);
        return;
      }
      tell(`Added ${server.name}`);
      setFound((all) => all.filter((each) => each !== server));
    }
    onClose();
    const [first] = found;
    if (first !== undefined) goTo(hrefOf('servers', [gateway, first.name]));
  };

  return (
    <Dialog
      title="Add a server"
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" changes disabled={found.length === 0} onClick={add}>
            {found.length > 1 ? `Add ${found.length} servers` : 'Add'}
          </Button>
        </>
      }
    >
      <label class="field-name" for={`${id}-text`}>
        Paste a command line, a package name, a URL, or the JSON for any host
      </label>
      <textarea
        id={`${id}-text`}
        class="input code"
        rows={5}
        spellcheck={false}
        ref={input}
        placeholder={
          'npx -y @modelcontextprotocol/server-memory\n@modelcontextprotocol/server-filesystem .\nhttps://mcp.example.com/mcp\n{ "mcpServers": { … } }'
        }
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {live.length > 1 ? (
        <div class="field">
          <label class="field-name" for={`${id}-gateway`}>
            Gateway
          </label>
          <Select
            id={`${id}-gateway`}
            label="Gateway"
            value={gateway}
            options={live.map((each) => ({ value: each.id, title: gatewayTitle(each.id) }))}
            onChange={setGateway}
          />
        </div>
      ) : null}
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {found.map((server, index) => (
        <Preview
          key={index}
          server={server}
          onName={(name) => setFound(found.map((each) => (each === server ? { ...each, name } : each)))}
        />
      ))}
    </Dialog>
  );
}

/** The entry to be written, with an editable name. */
function Preview({
  server,
  onName,
}: {
  server: ServerToAdd;
  onName: (name: string) => void;
}): ComponentChildren {
  const id = useId();
  return (
    <div class="add-preview">
      <label class="field-name" for={id}>
        Name
      </label>
      <input
        class="input"
        id={id}
        value={server.name}
        onInput={(event) => onName(event.currentTarget.value)}
      />
      <pre class="code" tabIndex={0} aria-label={`Entry of ${server.name}`}>
        {JSON.stringify(server.entry satisfies EntryJson, null, 2)}
      </pre>
    </div>
  );
}
