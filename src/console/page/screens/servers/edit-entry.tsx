import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { EntryJson, Problem, ServerInfo } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { ValueEditor } from '../../schema/value-editor.tsx';
import type { JsonSchema } from '../../schema/resolve.ts';
import { act } from '../../state/act.ts';
import { useLoaded } from '../../state/load.ts';
import { tell } from '../../state/messages.ts';

/** Edits the entry of a server in its file, with a form made from the schema. */
export function EditEntry({ server }: { server: ServerInfo }): ComponentChildren {
  const params = { gateway: server.gateway, server: server.name };
  const [entry, loadEntry] = useLoaded('servers.entry', params);
  const [schema, loadSchema] = useLoaded('servers.schema', {});
  if ((server.file === null && server.state.kind !== 'disabled') || server.kind === 'builtin')
    return (
      <p class="muted">
        {server.kind === 'builtin'
          ? 'This server is built into the gateway. To change it, edit its entry in the configuration file.'
          : 'This server was added at run time and is not in any file. To keep it, add it with “Add a server”.'}
      </p>
    );
  return (
    <LoadedPart loaded={schema} what="the schema" onRetry={loadSchema}>
      {(known) => (
        <LoadedPart loaded={entry} what="the entry" onRetry={loadEntry}>
          {({ file, entry: saved }) => (
            <Editor
              key={JSON.stringify(saved)}
              server={server}
              file={file}
              saved={saved}
              schema={known}
              onSaved={loadEntry}
            />
          )}
        </LoadedPart>
      )}
    </LoadedPart>
  );
}

interface EditorProps {
  readonly server: ServerInfo;
  readonly file: string;
  readonly saved: EntryJson;
  readonly schema: JsonSchema;
  readonly onSaved: () => Promise<void>;
}

function Editor({ server, file, saved, schema, onSaved }: EditorProps): ComponentChildren {
  const [entry, setEntry] = useState<EntryJson>(saved);
  const [valid, setValid] = useState(true);
  const [problem, setProblem] = useState<Problem | null>(null);
  const changed = JSON.stringify(entry) !== JSON.stringify(saved);
  const save = async (): Promise<void> => {
    const response = await act('servers.edit', { gateway: server.gateway, server: server.name, entry });
    setProblem(response.ok ? null : response.error);
    if (!response.ok) return;
    tell(`Saved ${server.name}`);
    await onSaved();
  };
  return (
    <>
      <p class="muted">
        In <code>{file}</code>. Secrets appear as dots, and keep their values unless you replace them.
      </p>
      <ValueEditor
        schema={schema}
        value={entry}
        sparse
        textLabel={`Entry of ${server.name} as JSON`}
        onChange={(next, isValid) => {
          setEntry(next as EntryJson);
          setValid(isValid);
        }}
      />
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <div class="form-foot">
        <Button kind="main" changes disabled={!valid || !changed} onClick={save}>
          Save
        </Button>
        <Button disabled={!changed} onClick={() => setEntry(saved)}>
          Undo changes
        </Button>
      </div>
    </>
  );
}
