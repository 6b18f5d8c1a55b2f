import { expect, test } from 'vitest';
import { parseProcessTable } from './process-table.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');

test('the table of wmic is read, with local times', () => {
  const text =
    '\r\r\nNode,CreationDate,ParentProcessId,ProcessId\r\r\n' +
    'PC,,0,0\r\r\n' +
    'PC,20251118191013.123456+060,632,4711\r\r\n' +
    'PC,20251118120000.000000-300,4711,4800\r\r\n';
  expect(parseProcessTable(bytes(text))).toEqual([
    { pid: 4711, parent: 632, start: Date.UTC(2025, 10, 18, 18, 10, 13, 123) },
    { pid: 4800, parent: 4711, start: Date.UTC(2025, 10, 18, 17, 0, 0, 0) },
  ]);
});

test('the same in UTF-16, with and without its mark', () => {
  const text = 'Node,CreationDate,ParentProcessId,ProcessId\r\r\nPC,20251118191013.123456+000,1,2\r\r\n';
  const entry = { pid: 2, parent: 1, start: Date.UTC(2025, 10, 18, 19, 10, 13, 123) };
  expect(parseProcessTable(Buffer.from(text, 'utf16le'))).toEqual([entry]);
  expect(parseProcessTable(Buffer.from(`\ufeff${text}`, 'utf16le'))).toEqual([entry]);
});

test('the table of Wine, in columns and without times, is read', () => {
  const text = '\ufeffParentProcessIDProcessID\r\n0    32   \r\n40   56   \r\n';
  expect(parseProcessTable(Buffer.from(text, 'utf16le'))).toEqual([
    { pid: 32, parent: 0, start: undefined },
    { pid: 56, parent: 40, start: undefined },
  ]);
});

test('the table of PowerShell is read', () => {
  const text = 'ParentProcessId,ProcessId,Milliseconds\r\n4,812,1763493013123\r\n812,4711,1763493014000\r\n';
  expect(parseProcessTable(bytes(text))).toEqual([
    { pid: 812, parent: 4, start: 1763493013123 },
    { pid: 4711, parent: 812, start: 1763493014000 },
  ]);
});

test.each(['', 'Error: Invalid query\r\n', 'Get-CimInstance : Access denied\r\n', 'ProcessId\r\n1\r\n'])(
  'what is no table has no processes: %j',
  (text) => {
    expect(parseProcessTable(bytes(text))).toEqual([]);
  },
);
