import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createProject, type Project } from '../../test/helpers/temp-project.ts';
import { SwitchboardError } from '../shared/errors.ts';
import {
  editConfig,
  loadConfig,
  withoutServer,
  withServer,
  type EditConfigOptions,
  type EditedConfig,
} from './index.ts';

const CONFIG = 'switchboard.config.json';
const echo = { command: 'echo' };
const before = '{\n  // mine\n  "mcpServers": { "a": { "command": "x" } }\n}\n';
const addB = (text: string): string => withServer(text, 'b', echo);

function edit(project: Project, options: Partial<EditConfigOptions> = {}): Promise<EditedConfig> {
  return editConfig({ file: undefined, directory: project.dir, change: addB, ...options });
}

async function failure(promise: Promise<unknown>): Promise<SwitchboardError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof SwitchboardError) return error;
  throw error;
}

// Windows has no such modes, and only administrators can create links there.
const posix = process.platform !== 'win32';
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test('a configuration is changed in place, and nothing else is left behind', async () => {
  const project = createProject({ [CONFIG]: before });
  const file = project.path(CONFIG);
  expect(await edit(project, { file })).toEqual({ file, before, after: addB(before), backup: undefined });
  expect(project.read(CONFIG)).toBe(addB(before));
  expect(readdirSync(project.dir)).toEqual([CONFIG]);
  await edit(project, { change: (text) => withoutServer(text, 'b') });
  expect(project.read(CONFIG)).toBe(before);
});

test('one that is not there is not made for nothing', async () => {
  const project = createProject();
  const { before, after } = await edit(project, { change: (text) => text, scope: 'project' });
  expect(after).toBe(before);
  expect(readdirSync(project.dir)).toEqual([]);
});

test('one that is not there is made, and loads', async () => {
  const project = createProject();
  const edited = await edit(project);
  expect(edited).toMatchObject({ file: project.path(CONFIG), before: undefined, backup: undefined });
  expect(project.read(CONFIG)).toBe(edited.after);
  expect(readdirSync(project.dir)).toEqual([CONFIG]);
  // Like any new file, according to the user's umask.
  expect(mode(project.path(CONFIG))).toBe(mode(createProject({ x: '' }).path('x')));
  const { servers, warnings } = await loadConfig({ cwd: project.dir, env: {} });
  expect([servers.map(({ name }) => name), warnings]).toEqual([['b'], []]);
});

test('one of another name is found, so that a new file does not hide it', async () => {
  const project = createProject({ 'switchboard.config.jsonc': '{ /* mine */ }' });
  expect((await edit(project)).file).toBe(project.path('switchboard.config.jsonc'));
  expect(readdirSync(project.dir)).toEqual(['switchboard.config.jsonc']);
});

test('a dry run and a change that changes nothing write nothing', async () => {
  const project = createProject({ [CONFIG]: before });
  expect(await edit(project, { dryRun: true, backupsIn: project.path('.state') })).toMatchObject({
    before,
    after: addB(before),
    backup: undefined,
  });
  expect(await edit(project, { change: (text) => text, backupsIn: project.path('.state') })).toMatchObject({
    before,
    after: before,
    backup: undefined,
  });
  expect([project.read(CONFIG), readdirSync(project.dir)]).toEqual([before, [CONFIG]]);
  const empty = createProject();
  await edit(empty, { dryRun: true });
  expect(readdirSync(empty.dir)).toEqual([]);
});

test('the file and its backup keep their rights', async () => {
  const project = createProject({ [CONFIG]: before });
  chmodSync(project.path(CONFIG), 0o600);
  const { backup } = await edit(project, { backupsIn: project.path('.state') });
  expect(backup?.startsWith(project.path('.state/backups'))).toBe(true);
  if (posix) expect([mode(project.path(CONFIG)), mode(backup!)]).toEqual(['600', '600']);
  expect([project.read(CONFIG), readFileSync(backup!, 'utf8')]).toEqual([addB(before), before]);
  expect(readdirSync(project.dir)).toEqual(['.state', CONFIG]);
});

test.runIf(posix)('a link stays a link, and the file behind it is changed', async () => {
  const project = createProject({ 'real/conf.json': before });
  symlinkSync('real/conf.json', project.path(CONFIG));
  const { file } = await edit(project, { backupsIn: project.path('.state') });
  expect(file).toBe(project.path(CONFIG));
  expect(readlinkSync(project.path(CONFIG))).toBe('real/conf.json');
  expect(project.read('real/conf.json')).toBe(addB(before));
  expect(readdirSync(project.path('real'))).toEqual(['conf.json']);
});

test('byte-order mark, line endings and every other byte are kept', async () => {
  const text = '\ufeff{\r\n\t// ä💥\r\n\t"mcpServers": {},\r\n}\r\n';
  const project = createProject({ [CONFIG]: text });
  await edit(project);
  expect(project.read(CONFIG)).toBe(addB(text));
  await edit(project, { change: (now) => withoutServer(now, 'b') });
  expect(project.read(CONFIG)).toBe(text);
});

describe('nothing is changed', () => {
  const refused = async (
    content: string,
    options: Partial<EditConfigOptions> = {},
  ): Promise<SwitchboardError> => {
    const project = createProject({ [CONFIG]: content });
    const error = await failure(edit(project, { backupsIn: createProject().dir, ...options }));
    expect([project.read(CONFIG), readdirSync(project.dir)]).toEqual([content, [CONFIG]]);
    return error;
  };
  const loading = (content: string): Promise<SwitchboardError> => {
    const { dir } = createProject({ [CONFIG]: content });
    return failure(loadConfig({ cwd: dir, env: {} }));
  };
  const withoutDirectory = ({ code, message }: SwitchboardError): string =>
    `${code} ${message.replace(/^.*[\\/]/gm, '')}`;

  test.each([
    '',
    '{ "mcpServers": { "a": 1 "b": 2 } }',
    '{ "logLevel": "loud" }',
    '[]',
    '{ "mcpServers": [] }',
  ])('where %j is not right already: the error is that of loading it', async (content) => {
    expect(withoutDirectory(await refused(content))).toBe(withoutDirectory(await loading(content)));
  });

  test('where the result would not be right', async () => {
    expect(await refused(before, { change: (text) => withServer(text, 'b', { comand: 'x' }) })).toMatchObject(
      {
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/would be invalid: mcpServers\.b: needs "command" or "url"/),
        hint: 'Nothing was changed.',
      },
    );
    expect((await refused(before, { change: (text) => withServer(text, 'x'.repeat(65), echo) })).code).toBe(
      'CONFIG_INVALID',
    );
    expect((await refused(before, { change: () => '{' })).code).toBe('CONFIG_UNREADABLE');
    expect((await refused(before, { change: () => '{ "timeouts": 5 }' })).code).toBe('CONFIG_INVALID');
  });

  test('where it is a program', async () => {
    for (const extension of ['js', 'mjs', 'cjs']) {
      const name = `switchboard.config.${extension}`;
      const project = createProject({ [name]: 'throw new Error("it must not even run");' });
      const error = await failure(edit(project));
      expect(error).toMatchObject({
        code: 'CONFIG_NOT_EDITABLE',
        message: expect.stringContaining(project.path(name)),
      });
      expect(error.hint).toContain('"name": { "command":');
      expect(readdirSync(project.dir)).toEqual([name]);
    }
  });

  test('where it is not there, a directory or not UTF-8', async () => {
    const project = createProject();
    expect((await failure(edit(project, { file: project.path('other.json') }))).code).toBe(
      'CONFIG_NOT_FOUND',
    );
    mkdirSync(project.path('directory.json'));
    expect((await failure(edit(project, { file: project.path('directory.json') }))).code).toBe(
      'CONFIG_NOT_FOUND',
    );
    const odd = createProject();
    writeFileSync(odd.path(CONFIG), Buffer.from('{ /* \xe4 */ }', 'latin1'));
    expect((await failure(edit(odd))).code).toBe('CONFIG_NOT_EDITABLE');
    expect(readFileSync(odd.path(CONFIG), 'latin1')).toBe('{ /* \xe4 */ }');
  });

  test.runIf(posix)('where it is a link to nowhere', async () => {
    const project = createProject();
    symlinkSync('nowhere.json', project.path(CONFIG));
    expect(await failure(edit(project))).toMatchObject({
      code: 'CONFIG_NOT_EDITABLE',
      message: `${project.path(CONFIG)} is a broken link.`,
    });
  });

  test.skipIf(!posix || process.getuid?.() === 0)('where it is read-only, or its directory is', async () => {
    const project = createProject({ [CONFIG]: before });
    chmodSync(project.path(CONFIG), 0o444);
    expect((await failure(edit(project))).code).toBe('CONFIG_NOT_WRITABLE');
    chmodSync(project.path(CONFIG), 0o644);
    chmodSync(project.dir, 0o555);
    expect((await failure(edit(project))).code).toBe('CONFIG_NOT_WRITABLE');
    chmodSync(project.dir, 0o755);
    expect(project.read(CONFIG)).toBe(before);
  });

  test('if another program keeps changing it', async () => {
    const project = createProject({ [CONFIG]: '{}' });
    let round = 0;
    const change = (text: string): string => {
      project.write(CONFIG, `{} // ${round++}`);
      return addB(text);
    };
    expect((await failure(edit(project, { change }))).code).toBe('CONFIG_BUSY');
    expect([project.read(CONFIG), readdirSync(project.dir)]).toEqual([`{} // ${round - 1}`, [CONFIG]]);
  });
});

test('a broken server does not keep others from being added, and can be removed', async () => {
  const project = createProject({ [CONFIG]: '{ "mcpServers": { "bad": { "comand": "x" } } }' });
  await edit(project);
  await edit(project, { change: (text) => withoutServer(text, 'bad') });
  expect(project.read(CONFIG)).toBe('{ "mcpServers": { "b": { "command": "echo" } } }');
});

test('concurrent changes of another program are not lost, not even in a new file', async () => {
  for (const start of ['{}', undefined]) {
    const project = createProject(start === undefined ? {} : { [CONFIG]: start });
    let isFirst = true;
    const change = (text: string): string => {
      if (isFirst) project.write(CONFIG, '{ "logLevel": "debug" }');
      isFirst = false;
      return addB(text);
    };
    expect((await edit(project, { change })).before).toBe('{ "logLevel": "debug" }');
    expect(project.read(CONFIG)).toBe(addB('{ "logLevel": "debug" }'));
  }
});

test('several edits at once in one process all count', async () => {
  const project = createProject();
  const names = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(names.map((name) => edit(project, { change: (text) => withServer(text, name, echo) })));
  expect((await loadConfig({ cwd: project.dir, env: {} })).servers.map(({ name }) => name).sort()).toEqual(
    names,
  );
});
