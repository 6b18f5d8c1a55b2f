import { expect, test } from 'vitest';
import { getPrompt } from './prompts.ts';

const textOf = (result: any): string => result.messages[0].content.text;

test('the handoff begins with the brief and names what needs approval', () => {
  const text = textOf(getPrompt('switchyard_runtime_handoff', {}));
  for (const word of [
    'switchyard://project/brief',
    'switchyard_where',
    'switchyard_create',
    'switchyard_down',
  ])
    expect(text).toContain(word);
});

test('the branch prompt holds the branch and the services', () => {
  const result: any = getPrompt('switchyard_branch_runtime', {
    branch: 'feature/demo',
    services: ' api   web ',
  });
  expect(result.messages).toHaveLength(1);
  expect(result.messages[0].role).toBe('user');
  for (const word of ['feature/demo', 'api web', 'switchyard_up']) expect(textOf(result)).toContain(word);
  expect(textOf(getPrompt('switchyard_branch_runtime', { branch: 'x' }))).toContain(
    'all configured services',
  );
});

test.each([
  ['nobody', {}, 'unknown prompt: nobody'],
  ['switchyard_branch_runtime', undefined, 'branch is required'],
  ['switchyard_branch_runtime', { branch: ' ' }, 'branch is required'],
  ['switchyard_branch_runtime', { branch: 3 }, 'arguments must be an object of strings'],
  ['switchyard_branch_runtime', ['x'], 'arguments must be an object of strings'],
  ['switchyard_branch_runtime', { branch: 'x', brnch: 'y' }, 'unexpected argument(s): brnch'],
])('%s with %j is refused: %s', (name, given, message) => {
  expect(() => getPrompt(name, given)).toThrow(expect.objectContaining({ code: 'PARAMS_INVALID', message }));
});
