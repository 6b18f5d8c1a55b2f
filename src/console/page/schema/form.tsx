/** A form made from a JSON Schema. It edits a JSON value. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Select } from '../parts/fields.tsx';
import { InlineCode } from '../parts/next-step.tsx';
import { Scalar } from './scalar.tsx';
import { isSchema, resolveSchema, schemaText, type JsonSchema } from './resolve.ts';
import { optionOf, shapeOf, type SchemaShape } from './shape.ts';
import type { ValueProblem } from './problems.ts';
import { initialValue, variantOf, withMember, withoutMember } from './value.ts';

interface SchemaFormProps {
  readonly schema: unknown;
  readonly root: JsonSchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly problems: readonly ValueProblem[];
  /** Shows only members that are set; others can be added from a list. For objects with many members. Default false. */
  readonly sparse?: boolean;
  readonly path?: string;
}

export function SchemaForm(props: SchemaFormProps): ComponentChildren {
  const schema = resolveSchema(props.schema, props.root);
  const shape = shapeOf(schema, props.root);
  if (shape.kind === 'object') return <ObjectForm {...props} shape={shape} />;
  return <Field {...props} name="Kind" required onRemove={null} />;
}

function ObjectForm(
  props: SchemaFormProps & { readonly shape: Extract<SchemaShape, { kind: 'object' }> },
): ComponentChildren {
  const { shape, value, root, onChange, path = '', problems } = props;
  const members = isSchema(value) ? value : {};
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const isSet = (name: string): boolean => Object.hasOwn(members, name);
  const shown = shape.properties.filter(
    ({ name, required }) => props.sparse !== true || required || isSet(name),
  );
  const hidden = shape.properties.filter((property) => !shown.includes(property));
  const known = new Set(shape.properties.map(({ name }) => name));
  const others = Object.keys(members).filter((name) => !known.has(name));
  return (
    <div class="form">
      {shown.map(({ name, schema, required }) => (
        <Field
          key={name}
          name={name}
          path={at(name)}
          schema={schema}
          root={root}
          required={required}
          value={members[name]}
          problems={problems}
          onChange={(member) => onChange(withMember(members, name, member))}
          onRemove={required || !isSet(name) ? null : () => onChange(withoutMember(members, name))}
        />
      ))}
      {others.map((name) => (
        <Field
          key={name}
          name={name}
          path={at(name)}
          schema={shape.extra === false ? {} : shape.extra}
          root={root}
          required={false}
          value={members[name]}
          problems={problems}
          onChange={(member) => onChange(withMember(members, name, member))}
          onRemove={() => onChange(withoutMember(members, name))}
        />
      ))}
      {shown.length === 0 && others.length === 0 && hidden.length === 0 && shape.extra === false ? (
        <p class="muted">Takes no arguments.</p>
      ) : null}
      {hidden.length > 0 ? (
        <AddKnown
          names={hidden.map(({ name, schema }) => ({
            name,
            hint: schemaText(resolveSchema(schema, root).description),
          }))}
          onAdd={(name) => {
            const property = hidden.find((each) => each.name === name);
            onChange(withMember(members, name, initialValue(property?.schema, root)));
          }}
        />
      ) : null}
      {shape.extra === false || (shape.properties.length > 0 && !isSchema(shape.extra)) ? null : (
        <AddNamed
          taken={[...known, ...others]}
          onAdd={(name) => onChange(withMember(members, name, initialValue(shape.extra, root)))}
        />
      )}
    </div>
  );
}

function AddKnown({
  names,
  onAdd,
}: {
  names: readonly { name: string; hint: string | null }[];
  onAdd: (name: string) => void;
}): ComponentChildren {
  const [chosen, choose] = useState('');
  const current = names.find(({ name }) => name === chosen);
  return (
    <div class="form-add">
      <Select
        label="Key to add"
        value={current?.name ?? ''}
        options={[
          { value: '', title: `Add a key (${names.length})…` },
          ...names.map(({ name }) => ({ value: name, title: name })),
        ]}
        onChange={choose}
      />
      <Button icon="add" disabled={current === undefined} onClick={() => onAdd(chosen)}>
        Add
      </Button>
      {typeof current?.hint === 'string' ? (
        <p class="field-hint">
          <InlineCode text={current.hint} />
        </p>
      ) : null}
    </div>
  );
}

function AddNamed({
  taken,
  onAdd,
}: {
  taken: readonly string[];
  onAdd: (name: string) => void;
}): ComponentChildren {
  const [name, setName] = useState('');
  const usable = name !== '' && !taken.includes(name);
  const add = (): void => {
    if (!usable) return;
    onAdd(name);
    setName('');
  };
  return (
    <div class="form-add">
      <input
        class="input"
        aria-label="Name of another member"
        placeholder="Another member…"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button icon="add" disabled={!usable} onClick={add}>
        Add
      </Button>
    </div>
  );
}

interface FieldProps extends SchemaFormProps {
  readonly name: string;
  readonly required: boolean;
  readonly onRemove: (() => void) | null;
}

/** One value with its name, its description and its problems. */
function Field(props: FieldProps): ComponentChildren {
  const { name, root, value, onChange, path = '', problems, required, onRemove } = props;
  const id = useId();
  const schema = resolveSchema(props.schema, root);
  const shape = shapeOf(schema, root);
  const own = problems.filter((problem) => problem.path === path && (value !== undefined || !required));
  const nested =
    shape.kind === 'array' || shape.kind === 'object' || shape.kind === 'union' || shape.kind === 'set';
  const hint = schemaText(schema.description);
  const Label = nested ? 'span' : 'label';
  return (
    <div
      class={`field ${own.length > 0 ? 'field-wrong' : ''}`}
      role={nested ? 'group' : undefined}
      aria-labelledby={nested ? `${id}-label` : undefined}
    >
      <div class="field-head">
        <Label class="field-name" id={`${id}-label`} {...(nested ? {} : { for: id })}>
          {name}
        </Label>
        <span class="field-type">
          {typeTitle(shape, schema)}
          {required && path !== '' && onRemove === null ? <em> required</em> : null}
        </span>
        {onRemove === null ? null : (
          <Button kind="quiet" icon="close" compact onClick={onRemove}>
            {`Remove ${name}`}
          </Button>
        )}
      </div>
      {hint === null ? null : (
        <p class="field-hint" id={`${id}-hint`}>
          <InlineCode text={hint} />
        </p>
      )}
      <FieldBody
        {...props}
        id={id}
        labelId={`${id}-label`}
        resolved={schema}
        shape={shape}
        onChange={onChange}
      />
      {own.map(({ message }) => (
        <p key={message} class="field-problem" id={`${id}-problem`}>
          {name} {message}
        </p>
      ))}
    </div>
  );
}

interface BodyProps extends FieldProps {
  readonly id: string;
  /** The id of its label. */
  readonly labelId: string;
  readonly resolved: JsonSchema;
  readonly shape: SchemaShape;
}

function FieldBody(props: BodyProps): ComponentChildren {
  const { shape, resolved, root, value, onChange, id, name } = props;
  switch (shape.kind) {
    case 'object':
    case 'array':
      if (value === undefined)
        return (
          <Button icon="add" onClick={() => onChange(initialValue(resolved, root))}>
            {`Add ${name}`}
          </Button>
        );
      return shape.kind === 'object' ? (
        <div class="field-nested">
          <ObjectForm {...props} shape={shape} />
        </div>
      ) : (
        <ArrayForm {...props} shape={shape} />
      );
    case 'union':
      return <UnionForm {...props} shape={shape} />;
    case 'set':
      return <SetForm options={shape.options} value={value} onChange={onChange} />;
    case 'enum':
      return (
        <Select
          id={id}
          labelId={props.labelId}
          label={name}
          value={value === undefined ? '' : JSON.stringify(value)}
          options={[
            ...(value === undefined || !props.required ? [{ value: '', title: '—' }] : []),
            ...shape.options.map((option) => ({ value: JSON.stringify(option.value), title: option.title })),
          ]}
          onChange={(text) => onChange(text === '' ? undefined : JSON.parse(text))}
        />
      );
    default:
      return (
        <Scalar
          id={id}
          labelId={props.labelId}
          kind={shape.kind}
          schema={resolved}
          value={value}
          onChange={onChange}
        />
      );
  }
}

function UnionForm(
  props: BodyProps & { readonly shape: Extract<SchemaShape, { kind: 'union' }> },
): ComponentChildren {
  const { shape, value, root, onChange } = props;
  const [chosen, choose] = useState<number | null>(null);
  // The user's choice takes precedence over the variant that matches best.
  const fitting = value === undefined ? null : variantOf(value, shape.variants, root);
  const index = value === undefined ? null : (chosen ?? fitting);
  const variant = index === null ? undefined : shape.variants[index];
  return (
    <div class="field-union">
      <Select
        label={`Type of ${props.name}`}
        value={index === null ? '' : String(index)}
        options={[
          ...(index === null || !props.required ? [{ value: '', title: '—' }] : []),
          ...shape.variants.map(({ title }, place) => ({ value: String(place), title })),
        ]}
        onChange={(text) => {
          choose(text === '' ? null : Number(text));
          onChange(text === '' ? undefined : initialValue(shape.variants[Number(text)]?.schema, root));
        }}
      />
      {variant === undefined ? null : (
        <FieldBody
          {...props}
          key={index ?? ''}
          resolved={variant.schema}
          shape={shapeOf(variant.schema, root)}
          required
          id={`${props.id}-variant`}
        />
      )}
    </div>
  );
}

function SetForm({
  options,
  value,
  onChange,
}: {
  options: readonly { value: unknown; title: string }[];
  value: unknown;
  onChange: (value: unknown) => void;
}): ComponentChildren {
  const chosen = Array.isArray(value) ? value.map((each) => optionOf(each).title) : [];
  const values = Array.isArray(value) ? (value as unknown[]) : [];
  return (
    <div class="field-set">
      {options.map((option) => {
        const title = optionOf(option.value).title;
        return (
          <label key={title} class="toggle">
            <input
              type="checkbox"
              checked={chosen.includes(title)}
              onChange={(event) =>
                onChange(
                  event.currentTarget.checked
                    ? [...values, option.value]
                    : values.filter((each) => optionOf(each).title !== title),
                )
              }
            />
            {option.title}
          </label>
        );
      })}
    </div>
  );
}

function ArrayForm(
  props: BodyProps & { readonly shape: Extract<SchemaShape, { kind: 'array' }> },
): ComponentChildren {
  const { shape, root, onChange, path = '', problems, name } = props;
  const items = Array.isArray(props.value) ? (props.value as unknown[]) : [];
  const schemaAt = (index: number): unknown => shape.first[index] ?? shape.rest;
  return (
    <div class="field-nested">
      {items.map((item, index) => (
        <Field
          key={index}
          name={`${name} ${index + 1}`}
          path={`${path}[${index}]`}
          schema={schemaAt(index)}
          root={root}
          required
          value={item}
          problems={problems}
          onChange={(next) => onChange(items.map((each, place) => (place === index ? next : each)))}
          onRemove={() => onChange(items.filter((_, place) => place !== index))}
        />
      ))}
      {shape.rest === false ? null : (
        <Button icon="add" onClick={() => onChange([...items, initialValue(schemaAt(items.length), root)])}>
          Add an item
        </Button>
      )}
    </div>
  );
}

function typeTitle(shape: SchemaShape, schema: JsonSchema): string {
  const format = schemaText(schema.format);
  if (shape.kind === 'set') return 'any of';
  if (shape.kind === 'enum') return 'one of';
  if (shape.kind === 'union') return 'one of these types';
  return format === null ? shape.kind : `${shape.kind}, ${format}`;
}
