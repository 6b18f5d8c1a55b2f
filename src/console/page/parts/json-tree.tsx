/** JSON as a tree whose nodes can be expanded. Long lists are shown in portions. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { plural } from './format.ts';

const PORTION = 100;
const LONG_TEXT = 400;
/** Small nodes are expanded up to this depth. */
const DEEP = 4;
const FEW = 8;

export const JsonTree = ({ value, label }: { value: unknown; label: string }): ComponentChildren => (
  <div class="json" role="group" aria-label={label}>
    <Node value={value} name={null} depth={0} />
  </div>
);

interface NodeProps {
  readonly name: string | null;
  readonly value: unknown;
  readonly depth: number;
}

const Name = ({ name }: { name: string | null }): ComponentChildren =>
  name === null ? null : (
    <>
      <span class="json-name">{name}</span>
      <span class="json-mark">: </span>
    </>
  );

function Node({ name, value, depth }: NodeProps): ComponentChildren {
  if (typeof value === 'object' && value !== null) return <Branch name={name} value={value} depth={depth} />;
  return (
    <div class="json-leaf">
      <Name name={name} />
      <Leaf value={value} />
    </div>
  );
}

function Branch({ name, value, depth }: NodeProps & { value: object }): ComponentChildren {
  const entries = Object.entries(value) as [string, unknown][];
  const [open, setOpen] = useState(entries.length <= (depth < 2 ? PORTION : FEW) && depth < DEEP);
  const [shown, setShown] = useState(PORTION);
  const marks = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0)
    return (
      <div class="json-leaf">
        <Name name={name} />
        <span class="json-mark">{marks.join('')}</span>
      </div>
    );
  return (
    <div class="json-branch">
      <button
        type="button"
        class="json-toggle"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') setOpen(true);
          if (event.key === 'ArrowLeft') setOpen(false);
        }}
      >
        <span class="json-arrow" aria-hidden="true" />
        <Name name={name} />
        <span class="json-mark">
          {marks[0]}
          {open
            ? ''
            : ` ${Array.isArray(value) ? plural(entries.length, 'item') : preview(entries)} ${marks[1] ?? ''}`}
        </span>
      </button>
      {open ? (
        <div class="json-children">
          {entries.slice(0, shown).map(([key, member]) => (
            <Node key={key} name={key} value={member} depth={depth + 1} />
          ))}
          {entries.length > shown ? (
            <button type="button" class="link-button" onClick={() => setShown(shown + PORTION)}>
              {entries.length - shown} more
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}

const preview = (entries: readonly [string, unknown][]): string => {
  const names = entries.slice(0, 4).map(([name]) => name);
  return names.join(', ') + (entries.length > names.length ? ', …' : '');
};

function Leaf({ value }: { value: unknown }): ComponentChildren {
  const [whole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span class="json-plain">{String(value)}</span>;
  const cut = !whole && value.length > LONG_TEXT;
  return (
    <>
      <span class="json-text">{JSON.stringify(cut ? value.slice(0, LONG_TEXT) : value)}</span>
      {cut ? (
        <button type="button" class="link-button" onClick={() => setWhole(true)}>
          {value.length - LONG_TEXT} more characters
        </button>
      ) : null}
    </>
  );
}
