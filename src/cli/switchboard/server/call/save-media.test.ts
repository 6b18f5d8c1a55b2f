import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../../../../test/helpers/temp-project.ts';
import { outputDirectory, saveMedia } from './save-media.ts';

const PNG = { type: 'image', mimeType: 'image/png', data: Buffer.from('pixels').toString('base64') };

test('each image and sound gets a file of its own, and none is written over', () => {
  const project = createProject({ 'shot.png': 'mine' });
  const sound = { type: 'audio', mimeType: 'audio/mpeg', data: PNG.data };
  const blob = { type: 'resource', resource: { uri: 'a:b', mimeType: 'application/pdf', blob: PNG.data } };
  const content = [PNG, { type: 'text', text: 'a' }, PNG, sound, blob];
  // The same part twice is saved as one file.
  const saved = saveMedia(
    { content: content.map((part) => ({ ...part })) },
    { directory: project.dir, tool: 'shot' },
  );
  expect([...saved.values()]).toEqual(
    ['shot-2.png', 'shot-3.png', 'shot.mp3', 'shot.pdf'].map((name) => project.path(name)),
  );
  expect(project.read('shot.png')).toBe('mine');
  expect(project.read('shot-2.png')).toBe('pixels');
});

test('neither the name of a tool nor a type leads out of the directory', () => {
  const project = createProject();
  const odd = { ...PNG, mimeType: 'image/../../x' };
  const saved = saveMedia({ content: [odd] }, { directory: project.dir, tool: '../../etc/passwd' });
  expect([...saved.values()]).toEqual([project.path('etc-passwd.bin')]);
});

test('data that is not base64 is left alone', () => {
  const project = createProject();
  const content = [{ ...PNG, data: '<svg>' }, { ...PNG, data: '' }, { ...PNG, data: 1 }, null];
  expect(saveMedia({ content }, { directory: project.dir, tool: 'x' }).size).toBe(0);
  expect(readdirSync(project.dir)).toEqual([]);
});

test('without a directory they go to a new one for temporary files, and only then', () => {
  const [path] = saveMedia({ content: [PNG] }, { directory: undefined, tool: 'x' }).values();
  onTestFinished(() => rmSync(dirname(path!), { recursive: true }));
  expect(readFileSync(path!, 'utf8')).toBe('pixels');
});

test('a directory is created, or the error names the next step', () => {
  const project = createProject({ file: '' });
  expect(existsSync(outputDirectory('a/b', project.dir))).toBe(true);
  expect(() => outputDirectory('file/b', project.dir)).toThrow(/Cannot write .*file[\\/]b: /);
});
