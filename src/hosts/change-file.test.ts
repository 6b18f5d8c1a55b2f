import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { allBackups } from '../shared/backups.ts';
import { changeFile as changeAt, type ChangeFileOptions } from './change-file.ts';
import { TextFault } from './container.ts';

/** The state directory of the current test. */
let stateDirectory = '';

function directory(): string {
  const made = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'switchboard-hosts-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  stateDirectory = join(made, 'state');
  fs.mkdirSync(join(made, 'files'));
  return join(made, 'files');
}
const changeFile = (options: Omit<ChangeFileOptions, 'stateDirectory'>) =>
  changeAt({ ...options, stateDirectory });
// Windows has no such modes, and only administrators can create links there.
const posix = process.platform !== 'win32';
const append = (text = ''): string => `${text}x`;
const read = (file: string): string => fs.readFileSync(file, 'utf8');

test('the old text is kept in the state directory, with its rights, and the last five of them stay', async () => {
  const folder = directory();
  const file = join(folder, 'mcp.json');
  fs.writeFileSync(file, '');
  fs.chmodSync(file, 0o640);
  for (let round = 0; round < 8; round++) {
    const { backup } = await changeFile({ file, change: append });
    expect(read(backup!)).toBe('x'.repeat(round));
    if (posix) expect(fs.statSync(backup!).mode & 0o777).toBe(0o640);
  }
  expect(read(file)).toBe('xxxxxxxx');
  if (posix) expect(fs.statSync(file).mode & 0o777).toBe(0o640);
  const kept = allBackups(stateDirectory);
  expect(kept.map(({ path }) => read(path).length)).toEqual([7, 6, 5, 4, 3]);
  expect(kept.every((each) => each.file === file && !Number.isNaN(Date.parse(each.at)))).toBe(true);
  if (posix) expect(fs.statSync(join(stateDirectory, 'backups')).mode & 0o777).toBe(0o700);
  expect(fs.readdirSync(folder)).toEqual(['mcp.json']);
});

test('nothing is written where nothing changes, or where it is only tried', async () => {
  const folder = directory();
  const file = join(folder, 'a', 'mcp.json');
  expect(await changeFile({ file, change: () => undefined })).toEqual({
    file,
    before: undefined,
    after: undefined,
    backup: undefined,
  });
  expect(await changeFile({ file, change: append, dryRun: true })).toMatchObject({
    before: undefined,
    after: 'x',
  });
  expect(fs.readdirSync(folder)).toEqual([]);
  fs.mkdirSync(join(folder, 'a'));
  fs.writeFileSync(file, 'y');
  const { mtimeMs } = fs.statSync(file);
  await changeFile({ file, change: (text) => text });
  expect(fs.statSync(file).mtimeMs).toBe(mtimeMs);
  expect(fs.readdirSync(join(folder, 'a'))).toEqual(['mcp.json']);
});

test('a new file gets its directories, and may be for its owner only', async () => {
  const folder = directory();
  const [open, closed] = [join(folder, 'a/b/c.json'), join(folder, 'd.json')];
  await changeFile({ file: open, change: append });
  await changeFile({ file: closed, change: append, ownerOnly: true });
  expect(read(open)).toBe('x');
  if (posix) expect(fs.statSync(closed).mode & 0o777).toBe(0o600);
  expect(allBackups(stateDirectory)).toEqual([]);
});

test('a file that is to go is gone, without a backup', async () => {
  const folder = directory();
  const file = join(folder, 'mcp.json');
  fs.writeFileSync(file, 'x');
  expect(await changeFile({ file, change: () => undefined })).toMatchObject({
    before: 'x',
    after: undefined,
    backup: undefined,
  });
  expect(fs.readdirSync(folder)).toEqual([]);
});

test.runIf(posix)('a link is followed and stays one', async () => {
  const folder = directory();
  fs.mkdirSync(join(folder, 'dotfiles'));
  const [target, link] = [join(folder, 'dotfiles/cursor.json'), join(folder, 'mcp.json')];
  fs.writeFileSync(target, 'x');
  fs.symlinkSync(target, link);
  await changeFile({ file: link, change: append });
  expect(fs.lstatSync(link).isSymbolicLink()).toBe(true);
  expect(read(target)).toBe('xx');
  expect(fs.readdirSync(join(folder, 'dotfiles'))).toEqual(['cursor.json']);
  expect(fs.readdirSync(folder)).toEqual(['dotfiles', 'mcp.json']);
  expect(allBackups(stateDirectory)).toMatchObject([{ file: link }]);
});

test('what another program writes meanwhile is not lost', async () => {
  const folder = directory();
  const file = join(folder, 'mcp.json');
  fs.writeFileSync(file, 'a');
  let disturbed = 0;
  const seen: unknown[] = [];
  const { before, after } = await changeFile({
    file,
    change: append,
    onWrite: (change) => {
      seen.push([change.before, change.after]);
      if (++disturbed <= 3) fs.appendFileSync(file, String(disturbed));
    },
  });
  expect([before, after]).toEqual(['a123', 'a123x']);
  expect(read(file)).toBe('a123x');
  expect(seen).toEqual([
    ['a', 'ax'],
    ['a1', 'a1x'],
    ['a12', 'a12x'],
    ['a123', 'a123x'],
  ]);
  expect(allBackups(stateDirectory).map(({ path }) => read(path))).toEqual(['a123']);
});

test('a file that changes all the time is left alone in the end', async () => {
  const folder = directory();
  const file = join(folder, 'mcp.json');
  fs.writeFileSync(file, 'a');
  const change = changeFile({ file, change: append, onWrite: () => fs.appendFileSync(file, 'b') });
  await expect(change).rejects.toMatchObject({ code: 'HOST_FILE_BUSY' });
  expect(read(file)).toMatch(/^ab+$/);
  expect(fs.readdirSync(folder)).toEqual(['mcp.json']);
});

test('a file that appears meanwhile is not replaced', async () => {
  const file = join(directory(), 'mcp.json');
  await changeFile({
    file,
    change: append,
    onWrite: ({ before }) => {
      if (before === undefined) fs.writeFileSync(file, 'theirs');
    },
  });
  expect(read(file)).toBe('theirsx');
});

test('an invalid file is reported with its name and position, and is not changed', async () => {
  const folder = directory();
  const file = join(folder, 'mcp.json');
  const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
  fs.writeFileSync(file, bytes);
  await expect(changeFile({ file, change: append })).rejects.toMatchObject({ code: 'HOST_FILE_BROKEN' });
  expect(fs.readFileSync(file).equals(bytes)).toBe(true);
  fs.writeFileSync(file, '{');
  const broken = changeFile({
    file,
    change: () => {
      throw new TextFault('this is not right', 3, 4);
    },
  });
  await expect(broken).rejects.toMatchObject({
    code: 'HOST_FILE_BROKEN',
    message: `${file}, line 3, column 4: this is not right.`,
    hint: 'Nothing was changed. Correct the file first.',
  });
  expect(fs.readdirSync(folder)).toEqual(['mcp.json']);
  await expect(changeFile({ file: folder, change: append })).rejects.toMatchObject({
    code: 'HOST_FILE_UNREADABLE',
    message: `${folder} is not a regular file.`,
  });
  if (posix) {
    fs.symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
    await expect(changeFile({ file: join(folder, 'link'), change: append })).rejects.toMatchObject({
      code: 'HOST_FILE_UNREADABLE',
    });
  }
  await expect(changeFile({ file: join(file, 'below.json'), change: append })).rejects.toMatchObject({
    code: expect.stringMatching(/^HOST_FILE_/) as string,
  });
});
