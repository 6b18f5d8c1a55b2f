import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { HostChangeRequest, Problem } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Diff } from '../../parts/diff.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { InlineCode } from '../../parts/next-step.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { act } from '../../state/act.ts';
import { useLoaded } from '../../state/load.ts';
import { tell } from '../../state/messages.ts';

export const CHANGE_TITLES: Readonly<Record<HostChangeRequest['change'], string>> = {
  install: 'Install',
  uninstall: 'Uninstall',
  takeover: 'Take over',
  eject: 'Eject',
};

interface ChangePreviewProps {
  readonly change: HostChangeRequest;
  readonly onClose: () => void;
  readonly onDone: () => Promise<void>;
}

/** Shows how a change would modify the files of a host before it is applied. */
export function ChangePreview({ change, onClose, onDone }: ChangePreviewProps): ComponentChildren {
  const [preview, load] = useLoaded('hosts.preview', change);
  const [problem, setProblem] = useState<Problem | null>(null);
  const title = `${CHANGE_TITLES[change.change]}: ${change.host}`;
  const nothing = preview.kind === 'loaded' && preview.value.files.length === 0;
  const apply = async (): Promise<void> => {
    const response = await act('hosts.change', change);
    if (!response.ok) {
      setProblem(response.error);
      return;
    }
    tell(`Changed ${change.host}. Restart it to apply the change.`);
    await onDone();
  };
  return (
    <Dialog
      title={title}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" changes disabled={preview.kind !== 'loaded' || nothing} onClick={apply}>
            {CHANGE_TITLES[change.change]}
          </Button>
        </>
      }
    >
      <LoadedPart loaded={preview} what="the preview" onRetry={load}>
        {({ files, notes }) => (
          <>
            {files.map(({ path, diff }) => (
              <div key={path}>
                <p>
                  <code>{path}</code>
                </p>
                <Diff text={diff} label={`Changes to ${path}`} />
              </div>
            ))}
            {files.length === 0 ? <p>Nothing to change.</p> : null}
            {notes.map((note) => (
              <p key={note} class="muted">
                <InlineCode text={note} />
              </p>
            ))}
          </>
        )}
      </LoadedPart>
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </Dialog>
  );
}
