import { expect, test } from 'vitest';
import { parseCim } from './process-list-cim.ts';

test('the process list of Windows is parsed line by line, without invalid lines', () => {
  const text = '4 0 1759300000000\r\n1234 4 1759300001234\r\n\r\nGet-CimInstance : Access denied\r\n9 8\r\n';
  expect(parseCim(text)).toEqual([
    { pid: 4, parent: 0, session: 4, startTime: 1759300000000, cookie: undefined },
    { pid: 1234, parent: 4, session: 1234, startTime: 1759300001234, cookie: undefined },
  ]);
});
