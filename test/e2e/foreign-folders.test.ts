/** A folder that somebody else has made runs nothing when it is only looked at, or stood in. */
import { chmodSync, existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { echoProject, runCli } from '../helpers/run-cli.ts';
import { createYard } from '../helpers/yard.ts';

const posix = process.platform !== 'win32';

test.runIf(posix)('reading a repository runs no hook, filter or file-system monitor of it', async () => {
  const yard = createYard({
    toml: '[project]\nname = "shop"\n[services.web]\ncommand = "sleep 60"\n',
    files: { 'a.txt': 'one\n', '.gitattributes': '*.txt filter=evil\n' },
  });
  const mark = yard.path('.git', 'ran');
  const program = yard.write('.git/evil.sh', `#!/bin/sh\ntouch '${mark}'\ncat\n`);
  const hook = yard.write('.git/hooks/post-index-change', `#!/bin/sh\ntouch '${mark}'\n`);
  for (const file of [program, hook]) chmodSync(file, 0o755);
  yard.git('config', 'core.fsmonitor', program);
  yard.git('config', 'filter.evil.clean', program);
  // Changed, so that git would have to filter it to compare it.
  yard.write('a.txt', 'two\n');
  for (const command of ['status', 'brief', 'list', 'doctor']) await yard.run([command, '--json']);
  expect(existsSync(mark)).toBe(false);
  // Git itself does run them.
  yard.git('status');
  expect(existsSync(mark)).toBe(true);
});

test.runIf(posix)('an empty element of PATH runs nothing of the working directory', async () => {
  for (const PATH of [':/usr/bin', '/usr/bin:', '/usr/bin::/bin']) {
    const project = echoProject({ planted: { command: 'only-in-this-folder' } });
    chmodSync(project.write('only-in-this-folder', `#!/bin/sh\ntouch '${project.path('ran')}'\n`), 0o755);
    const { code, stdout, stderr } = await runCli(project, ['tools', 'planted'], { env: { PATH } });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(/command not found|COMMAND_NOT_FOUND/);
    expect(existsSync(project.path('ran'))).toBe(false);
  }
});
