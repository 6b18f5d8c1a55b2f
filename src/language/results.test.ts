import { expect, test } from 'vitest';
import { attachmentsOf, contentForModel } from './results.ts';

const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

test('texts, images and sounds reach the model as they are', () => {
  const content = [
    { type: 'text', text: 'one' },
    image,
    { type: 'audio', data: 'AA', mimeType: 'audio/wav' },
  ];
  expect(contentForModel({ content })).toEqual(content);
});

test('a result that has structured content only becomes text', () => {
  expect(contentForModel({ content: [], structuredContent: { n: 1 } })).toEqual([
    { type: 'text', text: '{"n":1}' },
  ]);
});

test('resources and unknown kinds are described in words', () => {
  const content = [
    { type: 'resource', resource: { uri: 'note://1', text: 'inside' } },
    { type: 'resource', resource: { uri: 'note://2', blob: 'AAAA', mimeType: 'application/pdf' } },
    { type: 'resource_link', uri: 'note://3', name: 'third' },
    { type: 'hologram', data: 1 },
    'not even a block',
  ];
  const texts = contentForModel({ content }).map(({ text }) => text);
  expect(texts).toEqual([
    'Resource note://1:\ninside',
    '(The resource note://2, application/pdf, which is not text.)',
    '(A link to the resource note://3, third.)',
    '(Content of type hologram, which cannot be shown here.)',
  ]);
});

test('text beyond the limit is cut with a sentence that says so, and no character is halved', () => {
  const content = [
    { type: 'text', text: 'a'.repeat(99_999) },
    { type: 'text', text: '😀'.repeat(100) },
    { type: 'text', text: 'b'.repeat(100) },
  ];
  const texts = contentForModel({ content }).map(({ text }) => text as string);
  expect(texts[0]).toHaveLength(99_999);
  expect(texts[1]).toMatch(/^\n\(Cut off here: 199 of 200 characters/);
  expect(texts[2]).toMatch(/^\(Cut off here: 100 of 100 characters/);
});

test('an image too large for a model is described instead', () => {
  const content = [{ ...image, data: 'A'.repeat(6_000_000) }];
  expect(contentForModel({ content })).toEqual([
    { type: 'text', text: '(An image of type image/png, too large to be shown here.)' },
  ]);
  expect(attachmentsOf({ content })).toEqual(content);
});

test('a result without valid content counts as empty', () => {
  for (const result of [
    {},
    { content: [] },
    { content: 'text' },
    { content: [{ type: 'text', text: '' }] },
  ]) {
    expect(contentForModel(result)).toEqual([{ type: 'text', text: 'The tool returned no content.' }]);
  }
});

test('everything but text is attached, unchanged', () => {
  const content = [
    { type: 'text', text: 'x' },
    image,
    { type: 'resource_link', uri: 'a:b' },
    { type: 'hologram' },
  ];
  expect(attachmentsOf({ content })).toEqual([image, { type: 'resource_link', uri: 'a:b' }]);
});
