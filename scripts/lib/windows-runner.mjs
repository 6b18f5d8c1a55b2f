/**
 * Runs bundled test files, in Node on Windows: `node windows-runner.mjs RESULTS TIMEOUT BUNDLE…`. Appends a line of
 * JSON to the file RESULTS after each test.
 */
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startTests } from '@vitest/runner';

const [results, timeout, ...bundles] = process.argv.slice(2);
const reported = new Set();
const { expect } = await import('./windows-vitest.mjs');

class Runner {
  config = {
    root: process.cwd(),
    setupFiles: [],
    name: undefined,
    passWithNoTests: false,
    testNamePattern: process.env.TEST_NAME ? new RegExp(process.env.TEST_NAME) : undefined,
    allowOnly: true,
    sequence: { shuffle: false, concurrent: false, seed: 1, hooks: 'stack', setupFiles: 'list' },
    chaiConfig: undefined,
    maxConcurrency: 3,
    testTimeout: Number(timeout),
    hookTimeout: Number(timeout),
    retry: 0,
    includeTaskLocation: false,
    diffOptions: undefined,
    tags: [],
    strictTags: false,
  };

  importFile(file) {
    return import(pathToFileURL(file).href);
  }

  extendTaskContext(context) {
    context.expect = expect;
    return context;
  }

  onBeforeTryTask(test) {
    expect.setState({ assertionCalls: 0, isExpectingAssertions: false, currentTestName: test.fullTestName });
  }

  onAfterRunTask(test) {
    report(test);
  }
}

const files = await startTests(bundles, new Runner());

for (const file of files) visit(file);
process.exit(0);

/** Tests that did not run, and files and hooks that failed. */
function visit(task) {
  const failed = (task.result?.errors ?? []).length > 0;
  if (!reported.has(task) && (task.type === 'test' || failed)) report(task);
  for (const each of task.tasks ?? []) visit(each);
}

function report(task) {
  reported.add(task);
  const { state, errors = [] } = task.result ?? { state: task.mode };
  // The stack of a test that timed out does not contain the message.
  const problems = errors.map(({ message, stack = '' }) =>
    stack.includes(message) ? stack : `${message}\n${stack}`,
  );
  appendFileSync(results, `${JSON.stringify({ name: nameOf(task), state, problems })}\n`);
}

function nameOf(task) {
  if (task.filepath !== undefined) return basename(task.filepath, '.mjs');
  return `${nameOf(task.suite ?? task.file)} › ${task.name}`;
}
