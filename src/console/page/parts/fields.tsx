/** Form controls with labels. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

interface SelectProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly title: string }[];
  readonly onChange: (value: T) => void;
  readonly disabled?: boolean;
  readonly id?: string;
  /** The id of the element that names it, if it has no label of its own. */
  readonly labelId?: string;
}

export const Select = <T extends string>(props: SelectProps<T>): ComponentChildren => (
  <select
    class="select"
    id={props.id}
    aria-label={props.id === undefined ? props.label : undefined}
    aria-labelledby={props.labelId}
    value={props.value}
    disabled={props.disabled}
    onChange={(event) => props.onChange(event.currentTarget.value as T)}
  >
    {props.options.map(({ value, title }) => (
      <option key={value} value={value} selected={value === props.value}>
        {title}
      </option>
    ))}
  </select>
);

/** The key `/` focuses this field. */
export const SearchField = ({
  label,
  value,
  onInput,
}: {
  label: string;
  value: string;
  onInput: (value: string) => void;
}): ComponentChildren => (
  <div class="search">
    <Icon name="search" />
    <input
      type="search"
      data-search
      aria-label={label}
      placeholder={label}
      value={value}
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        if (value === '') event.currentTarget.blur();
        else onInput('');
      }}
    />
  </div>
);

interface ChoicesProps<T extends string> {
  readonly label: string;
  readonly value: T | null;
  readonly options: readonly { readonly value: T; readonly title: string; readonly hint?: string }[];
  readonly onChange: (value: T) => void;
  readonly disabled?: boolean;
}

/** A few choices next to each other, one of which is selected. */
export const ChoiceBar = <T extends string>(props: ChoicesProps<T>): ComponentChildren => (
  <div class="choices" role="group" aria-label={props.label}>
    {props.options.map(({ value, title, hint }) => (
      <button
        key={value}
        type="button"
        class="choice"
        aria-pressed={value === props.value}
        title={hint}
        disabled={props.disabled}
        onClick={() => props.onChange(value)}
      >
        {title}
      </button>
    ))}
  </div>
);

export const Toggle = ({
  label,
  checked,
  onChange,
}: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}): ComponentChildren => (
  <label class="toggle">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
);
