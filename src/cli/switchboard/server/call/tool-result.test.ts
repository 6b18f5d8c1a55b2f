import { describe, expect, test } from 'vitest';
import { resultText, sizeText } from './tool-result.ts';

describe('a result for a person', () => {
  test('text is text, the rest a line each', () => {
    const content = [
      { type: 'text', text: 'one\r\ntwo' },
      { type: 'image', mimeType: 'image/png', data: 'A'.repeat(16000) },
      { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'hello' } },
      { type: 'hologram', beams: 3 },
      'nonsense',
    ];
    expect(resultText({ content })).toBe(
      'one\ntwo\n[image/png, 12 kB]\n[resource, file:///a, a, text/plain]\n[resource, file:///b, 5 bytes]\n' +
        '[hologram, 29 bytes]\n[not a content block]\n',
    );
  });

  test('structured content is shown where there is no other', () => {
    expect(resultText({ structuredContent: { a: 1 } })).toBe('{\n  "a": 1\n}\n');
    expect(resultText({ content: [{ type: 'text', text: 'x' }], structuredContent: { a: 1 } })).toBe('x\n');
    expect(resultText({})).toBe('');
  });

  test('colours are removed, and other control characters are made visible', () => {
    const content = [
      { type: 'text', text: '\x1b[2Jgone\u202e\x07' },
      { type: 'image', mimeType: '\x1b]0;x\x07a', data: '' },
    ];
    expect(resultText({ content })).toBe('gone\\u{202e}\\x07\n[a, 0 bytes]\n');
  });

  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1.0 kB'],
    [12_345, '12 kB'],
    [3_400_000, '3.4 MB'],
  ])('%i bytes', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
