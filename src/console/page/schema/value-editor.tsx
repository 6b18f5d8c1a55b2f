/** Edits a JSON value as a form and as text side by side; a change in one shows in the other. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useState } from 'preact/hooks';
import { plural } from '../parts/format.ts';
import { ChoiceBar } from '../parts/fields.tsx';
import { SchemaForm } from './form.tsx';
import { isSchema, type JsonSchema } from './resolve.ts';
import { problemsOf } from './problems.ts';

interface ValueEditorProps {
  readonly schema: JsonSchema;
  readonly value: unknown;
  /** `valid` is false while the text is not valid JSON; `value` is then the last valid value. */
  readonly onChange: (value: unknown, valid: boolean) => void;
  readonly sparse?: boolean;
  readonly textLabel: string;
}

type View = 'form' | 'json' | 'both';

export function ValueEditor({
  schema,
  value,
  onChange,
  sparse = false,
  textLabel,
}: ValueEditorProps): ComponentChildren {
  const id = useId();
  const [view, setView] = useState<View>('both');
  const [text, setText] = useState(() => printed(value));
  const [wrong, setWrong] = useState<string | null>(null);
  // A change in the form updates the text; a change in the text keeps it as typed.
  useLayoutEffect(() => {
    if (wrong === null && printed(value) !== printed(parsed(text))) setText(printed(value));
  }, [value]);
  const problems = problemsOf(value, schema, schema);
  const edit = (next: string): void => {
    setText(next);
    try {
      const read: unknown = JSON.parse(next);
      setWrong(isSchema(read) ? null : 'The value must be an object: { … }');
      onChange(isSchema(read) ? read : value, isSchema(read));
    } catch (error) {
      setWrong(`Invalid JSON: ${error instanceof Error ? error.message : String(error)}`);
      onChange(value, false);
    }
  };
  return (
    <div class={`editor editor-${view}`}>
      <div class="editor-head">
        <ChoiceBar
          label="Edit as"
          value={view}
          options={[
            { value: 'form', title: 'Form' },
            { value: 'both', title: 'Both' },
            { value: 'json', title: 'JSON' },
          ]}
          onChange={setView}
        />
        <span class="muted">
          {problems.length > 0 && wrong === null ? plural(problems.length, 'problem') : ''}
        </span>
      </div>
      <div class="editor-body">
        {view === 'json' ? null : (
          <div class="editor-form">
            {wrong === null ? (
              <SchemaForm
                schema={schema}
                root={schema}
                value={value}
                sparse={sparse}
                problems={problems}
                onChange={(next) => onChange(withoutUndefined(next), true)}
              />
            ) : (
              <p class="muted">Correct the JSON to see the form again.</p>
            )}
          </div>
        )}
        {view === 'form' ? null : (
          <div class="editor-text">
            <textarea
              class="input code"
              aria-label={textLabel}
              aria-invalid={wrong !== null}
              aria-describedby={`${id}-wrong`}
              spellcheck={false}
              value={text}
              rows={Math.min(24, Math.max(6, text.split('\n').length + 1))}
              onInput={(event) => edit(event.currentTarget.value)}
            />
            <p class="field-problem" id={`${id}-wrong`} role="status">
              {wrong ?? ''}
            </p>
          </div>
        )}
      </div>
    </div>
  );
}

const printed = (value: unknown): string => JSON.stringify(value, null, 2);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function withoutUndefined(value: unknown): unknown {
  if (!isSchema(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
