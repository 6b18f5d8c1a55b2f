import { expect, test } from 'vitest';
import { problemsOf } from './problems.ts';
import { resolveSchema } from './resolve.ts';
import { shapeOf } from './shape.ts';
import { initialValue, variantOf } from './value.ts';

const ROOT = {
  type: 'object',
  properties: {
    edits: { type: 'array', items: { $ref: '#/$defs/edit' }, minItems: 1 },
    mode: { enum: ['text', 'binary'], default: 'text' },
    target: { oneOf: [{ $ref: '#branch' }, { $ref: '#/$defs/commit~1id' }] },
    size: {
      oneOf: [
        { const: 'S', title: 'Small' },
        { const: 'M', title: 'Medium' },
      ],
    },
    labels: { type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true },
    maybe: { type: ['string', 'null'] },
  },
  required: ['edits'],
  additionalProperties: false,
  $defs: {
    edit: { type: 'object', properties: { text: { type: 'string', minLength: 1 } }, required: ['text'] },
    named: { properties: { name: { type: 'string' } }, required: ['name'] },
    branch: { $anchor: 'branch', type: 'object', allOf: [{ $ref: '#/$defs/named' }] },
    'commit/id': { type: 'object', properties: { sha: { pattern: '^[0-9a-f]+$' } }, required: ['sha'] },
  },
} as const;

const shapeAt = (name: keyof typeof ROOT.properties): unknown =>
  shapeOf(resolveSchema(ROOT.properties[name], ROOT), ROOT);

test('each schema gets its control', () => {
  expect(shapeAt('size')).toEqual({
    kind: 'enum',
    options: [
      { value: 'S', title: 'Small' },
      { value: 'M', title: 'Medium' },
    ],
  });
  expect(shapeAt('labels')).toMatchObject({ kind: 'set' });
  expect(shapeAt('maybe')).toMatchObject({
    kind: 'union',
    variants: [{ title: 'string' }, { title: 'null' }],
  });
  expect(shapeAt('target')).toMatchObject({
    kind: 'union',
    variants: [{ title: 'object with name' }, { title: 'object with sha' }],
  });
  expect(shapeAt('edits')).toMatchObject({ kind: 'array' });
});

test('a form begins with what is required and with defaults', () => {
  expect(initialValue(ROOT, ROOT)).toEqual({ edits: [], mode: 'text' });
  expect(initialValue({ $ref: '#/$defs/edit' }, ROOT)).toEqual({ text: '' });
});

test('the variant of a value is found', () => {
  const { variants } = shapeAt('target') as { variants: Parameters<typeof variantOf>[1] };
  expect(variantOf({ sha: 'abc' }, variants, ROOT)).toBe(1);
  expect(variantOf({ name: 'main' }, variants, ROOT)).toBe(0);
});

test('problems are named by their path', () => {
  const value = { edits: [{ text: '' }, {}], mode: 'other', target: { sha: 'xyz' }, more: 1, maybe: null };
  expect(problemsOf(value, ROOT, ROOT).map(({ path, message }) => `${path} ${message}`)).toEqual([
    'edits[0].text must not be empty',
    'edits[1].text is required',
    'mode must be one of the listed values',
    'target.sha must match ^[0-9a-f]+$',
    'more is not known',
  ]);
  expect(problemsOf({ edits: [] }, ROOT, ROOT)).toEqual([
    { path: 'edits', message: 'must have at least 1 items' },
  ]);
  expect(problemsOf({ edits: [{ text: 'x' }], size: 'M', labels: ['a'] }, ROOT, ROOT)).toEqual([]);
});

test('a schema that refers to itself ends', () => {
  const endless = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } };
  expect(resolveSchema(endless, endless)).toEqual(expect.anything());
  const tree = { type: 'object', properties: { child: { $ref: '#' } }, required: ['child'] };
  expect(JSON.stringify(initialValue(tree, tree)).length).toBeLessThan(1_000);
  expect(problemsOf({ child: { child: {} } }, tree, tree)).toHaveLength(1);
});
