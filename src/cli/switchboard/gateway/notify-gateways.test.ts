import { expect, test } from 'vitest';
import { notifyUnsupported, notifiedText } from './notify-gateways.ts';

test('on Windows, where every signal ends a process, no gateway is notified', () => {
  expect(notifyUnsupported('win32')).toBe('a running gateway cannot be notified on Windows');
  expect([notifyUnsupported('linux'), notifyUnsupported('darwin')]).toEqual([undefined, undefined]);
});

test('says which gateways were notified and which were not, and why', () => {
  expect(notifiedText([])).toMatch(/^No gateway is running with this configuration/);
  const told = { pid: 1, program: 'switchboard', told: true };
  expect(notifiedText([told, { ...told, pid: 2, told: false, reason: 'kill EPERM' }])).toBe(
    'Reload signal sent to switchboard, pid 1.\nNo reload signal sent to switchboard, pid 2 (kill EPERM).\n',
  );
});
