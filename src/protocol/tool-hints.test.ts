import { expect, test } from 'vitest';
import { annotationsOf, combinedHints, toolHints } from './tool-hints.ts';

const READ = { readOnlyHint: true, openWorldHint: false };
const SAFE_WRITE = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

test('a tool that says nothing may destroy, in an open world', () => {
  for (const annotations of [undefined, null, {}, 'x', { readOnlyHint: 'true' }])
    expect(toolHints(annotations)).toEqual({
      readOnly: false,
      destructive: true,
      idempotent: false,
      openWorld: true,
    });
});

test('a tool that only reads destroys nothing, whatever else it says', () => {
  expect(toolHints({ ...READ, destructiveHint: true })).toEqual({
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
  });
});

test('the sum is read-only where all are, and destructive where one may be', () => {
  const sum = (...all: object[]) => combinedHints(all.map(toolHints));
  expect(sum()).toBeUndefined();
  expect(sum(READ, READ)).toMatchObject({ readOnly: true, destructive: false });
  expect(sum(READ, SAFE_WRITE)).toEqual({
    readOnly: false,
    destructive: false,
    idempotent: true,
    openWorld: false,
  });
  expect(sum(READ, SAFE_WRITE, {})).toEqual(toolHints({}));
});

test('hints are written as annotations', () => {
  expect(annotationsOf(toolHints(SAFE_WRITE))).toEqual(SAFE_WRITE);
});
