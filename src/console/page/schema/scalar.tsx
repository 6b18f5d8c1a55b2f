/** Controls for values without members. An optional value that is left empty is not sent. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Select } from '../parts/fields.tsx';
import type { JsonSchema } from './resolve.ts';

interface ScalarProps {
  readonly id: string;
  readonly labelId: string;
  readonly kind: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'any';
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

export function Scalar({ id, labelId, kind, schema, value, onChange }: ScalarProps): ComponentChildren {
  const usual = 'default' in schema ? JSON.stringify(schema.default) : '';
  switch (kind) {
    case 'boolean':
      return (
        <Select
          id={id}
          labelId={labelId}
          label="Value"
          value={typeof value === 'boolean' ? String(value) : ''}
          options={[
            { value: '', title: usual === '' ? '—' : `— (${usual})` },
            { value: 'true', title: 'true' },
            { value: 'false', title: 'false' },
          ]}
          onChange={(text) => onChange(text === '' ? undefined : text === 'true')}
        />
      );
    case 'number':
    case 'integer':
      return (
        <input
          class="input input-number"
          id={id}
          aria-labelledby={labelId}
          type="number"
          step={kind === 'integer' ? 1 : 'any'}
          placeholder={usual}
          value={typeof value === 'number' ? value : ''}
          onInput={({ currentTarget: { value: text } }) => onChange(text === '' ? undefined : Number(text))}
        />
      );
    case 'null':
      return <code id={id}>null</code>;
    case 'any':
      return <AnyValue id={id} labelId={labelId} value={value} onChange={onChange} />;
    case 'string': {
      const text = typeof value === 'string' ? value : '';
      const change = (next: string): void => onChange(next === '' && value === undefined ? undefined : next);
      return schema.format === 'date' ? (
        <input
          class="input"
          id={id}
          aria-labelledby={labelId}
          type="date"
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
        />
      ) : (
        <textarea
          class="input"
          id={id}
          aria-labelledby={labelId}
          rows={Math.min(8, Math.max(1, text.split('\n').length))}
          placeholder={usual}
          spellcheck={false}
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
        />
      );
    }
  }
}

/** For schemas that say nothing: JSON, or a text if the input is not JSON. */
function AnyValue({
  id,
  labelId,
  value,
  onChange,
}: {
  id: string;
  labelId: string;
  value: unknown;
  onChange: (value: unknown) => void;
}): ComponentChildren {
  const [text, setText] = useState(
    value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value),
  );
  return (
    <textarea
      class="input code"
      id={id}
      aria-labelledby={labelId}
      rows={Math.min(8, Math.max(1, text.split('\n').length))}
      placeholder="JSON, or text"
      spellcheck={false}
      value={text}
      onInput={(event) => {
        setText(event.currentTarget.value);
        onChange(parsedOrText(event.currentTarget.value));
      }}
    />
  );
}

function parsedOrText(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
