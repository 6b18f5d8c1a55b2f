/** What servers write and say, as a person reads it: without colours, in quotes, never run into our own sentences. */
import { expect, test } from 'vitest';
import { runProgram } from '../helpers/run-program.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';

function colourful(...args: string[]): Project {
  return createProject({
    'switchboard.config.json': { mcpServers: { paint: nodeServer('colourful', ...args) } },
  });
}

// eslint-disable-next-line no-control-regex
const CODES = /\u001b|\\x1b/;

test('the last output of a server is quoted, followed by our next step', async () => {
  const { stdout, code } = await runProgram(colourful('--exit'), ['tools']);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /failed: Server 'paint' exited with code 1\. It wrote: "Error: No token is set \| Set 'TOKEN' first"\. .*switchboard doctor --start starts it/,
  );
});

test('doctor --start never recommends itself', async () => {
  const { stdout, stderr, code } = await runProgram(colourful('--exit'), ['doctor', '--start']);
  expect(code).toBe(1);
  expect(stdout).toContain(`It wrote: "Error: No token is set | Set 'TOKEN' first".\n`);
  expect(stdout).toContain('Run its command in a terminal');
  expect(stdout + stderr).not.toContain('doctor');
  // The error says all of it already.
  expect(stderr).toBe('');
});

test('codes that colour a terminal are removed from results, errors, descriptions and stderr', async () => {
  const project = colourful();
  const runs = [
    await runProgram(project, ['call', 'paint', 'paint', '--log-level', 'info']),
    await runProgram(project, ['call', 'paint', 'refuse']),
    await runProgram(project, ['tools']),
  ];
  expect(runs.map(({ stdout, stderr }) => stdout + stderr).join('')).not.toMatch(CODES);
  expect(runs[0]!.stdout).toBe('green\n');
  expect(runs[0]!.stderr).toContain('[paint] Error: No token is set\n');
  expect(runs[1]!.stderr).toContain(`paint said: "Not now. Come back 'later'".`);
  expect(runs[2]!.stdout).toContain('Paints.');
});
