import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ownIdentity } from '../../../process/index.ts';
import { homeOf, makeHome, type Home } from '../../records/state/home.ts';
import { readLease, releaseLease, removeLease, takeLease } from './lease.ts';

let home: Home;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'yard-lease-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  home = homeOf({ SWITCHYARD_HOME: folder });
  makeHome(home);
});

const lease = (cookie: string) => ({ key: 'main::web', root: '/shop', cookie, holder: ownIdentity(), at: 1 });

describe('a lease', () => {
  test('is taken only once, and identifies its holder', () => {
    expect(takeLease(home, 20_001, lease('a'))).toBe(true);
    expect(takeLease(home, 20_001, lease('b'))).toBe(false);
    expect(readLease(home, 20_001)).toEqual(lease('a'));
    expect(statSync(join(home.ports, '20001')).mode & 0o777).toBe(0o600);
  });

  test('is released only by the start that holds it', () => {
    takeLease(home, 20_001, lease('a'));
    releaseLease(home, 20_001, 'b');
    releaseLease(home, 20_001, undefined);
    expect(readLease(home, 20_001)).toEqual(lease('a'));
    releaseLease(home, 20_001, 'a');
    expect(readLease(home, 20_001)).toBeUndefined();
    releaseLease(home, 20_001, 'a');
  });

  test.each(['', '{"key":', 'null', '[]', '{"key":"a","root":"b","cookie":"c"}', '{"key":1}'])(
    'with the content %j is broken',
    (text) => {
      writeFileSync(join(home.ports, '20001'), text);
      expect(readLease(home, 20_001)).toBe('broken');
      releaseLease(home, 20_001, 'c');
      expect(readFileSync(join(home.ports, '20001'), 'utf8')).toBe(text);
      removeLease(home, 20_001);
      expect(existsSync(join(home.ports, '20001'))).toBe(false);
    },
  );
});
