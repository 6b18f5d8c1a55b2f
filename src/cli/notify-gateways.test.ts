import { expect, test } from 'vitest';
import { notifyUnsupported, notifiedText } from './notify-gateways.ts';

test('on Windows, where every signal ends a process, no gateway is told anything', () => {
  expect(notifyUnsupported('win32')).toBe('on Windows a running gateway cannot be told');
  expect([notifyUnsupported('linux'), notifyUnsupported('darwin')]).toEqual([undefined, undefined]);
});

test('says who was told and who was not, and why', () => {
  expect(notifiedText([])).toMatch(/^No gateway runs with this configuration now/);
  const told = { pid: 1, program: 'switchboard', told: true };
  expect(notifiedText([told, { ...told, pid: 2, told: false, reason: 'kill EPERM' }])).toBe(
    'Told to read it again: switchboard, pid 1.\nNot told to read it again: switchboard, pid 2 (kill EPERM).\n',
  );
});
