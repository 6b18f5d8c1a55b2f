import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as later } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { withFileLock } from './file-lock.ts';

function directory(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'file-lock-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('changes of one file come one after the other, by whatever path', async () => {
  const folder = directory();
  mkdirSync(join(folder, 'real'));
  symlinkSync(join(folder, 'real'), join(folder, 'linked'));
  const [one, other] = [join(folder, 'real', 'count'), join(folder, 'linked', 'count')];
  // A file that does not exist yet has the same lock before and after it is created.
  await withFileLock(one, () => writeFileSync(one, '0'));
  const add = (path: string) => async (): Promise<void> => {
    const count = Number(readFileSync(path, 'utf8'));
    await later();
    writeFileSync(path, String(count + 1));
  };
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => withFileLock(at % 2 ? one : other, add(at % 2 ? one : other))),
  );
  expect(readFileSync(one, 'utf8')).toBe('20');
});

test('changes of two files do not wait for each other', async () => {
  const folder = directory();
  await withFileLock(join(folder, 'a'), () => withFileLock(join(folder, 'b'), () => undefined));
});
