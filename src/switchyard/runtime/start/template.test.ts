import { describe, expect, test } from 'vitest';
import { placeholders, renderCommand } from './template.ts';

const render = (template: string, values: Record<string, string> = {}) =>
  renderCommand('web', template, new Map(Object.entries(values)));

describe('the command of a service', () => {
  test('has its placeholders filled in, also in quotes and within words', () => {
    const { argv, unknown } = render(`vite --port={port} '--host={host}' "{url}/x"`, {
      port: '20000',
      host: '::1',
      url: 'http://a',
    });
    expect(argv).toEqual(['vite', '--port=20000', '--host=::1', 'http://a/x']);
    expect(unknown).toEqual([]);
  });

  test.each(['feature/demo; touch owned', `a' "b`, 'a\\ b', '$(id)', '{port}', ''])(
    'keeps its words for any value: %j',
    (branch) => {
      expect(render('dev --branch {branch}', { branch, port: '1' }).argv).toEqual([
        'dev',
        '--branch',
        branch,
      ]);
    },
  );

  test('keeps unknown placeholders, and reports each once', () => {
    const { argv, unknown } = render('a {db_url} {db_url} {"x": {y}} {} { port }');
    expect(argv).toEqual(['a', '{db_url}', '{db_url}', '{x:', '{y}}', '{}', '{', 'port', '}']);
    expect(unknown).toEqual(['{db_url}', '{y}']);
  });

  test('that cannot be split is rejected with the name of the service', () => {
    expect(() => render(`dev 'x`)).toThrow(
      /The command of web cannot be split into words\. The ' at character 5/,
    );
    expect(() => render(`'' x`)).toThrow('The command of web names no program.');
  });
});

describe('placeholders', () => {
  const base = { port: '1', branch: 'main' };
  const db = { service: 'db-main', host: '127.0.0.1', port: 5, publicUrl: 'http://db' } as const;

  test('know peers with dashes and with underscores', () => {
    const values = placeholders({ base, profile: {}, peers: [db] });
    const facts = { url: 'http://127.0.0.1:5', host: '127.0.0.1', port: '5', public_url: 'http://db' };
    const named = (name: string) => Object.entries(facts).map(([fact, value]) => [`${name}_${fact}`, value]);
    expect(Object.fromEntries(values)).toEqual({
      ...base,
      ...Object.fromEntries([...named('db-main'), ...named('db_main')]),
    });
  });

  test('of a service called like the public address of another are its own', () => {
    const other = {
      service: 'db-main-public',
      host: '127.0.0.1',
      port: 6,
      publicUrl: 'http://other',
    } as const;
    for (const peers of [
      [db, other],
      [other, db],
    ]) {
      expect(placeholders({ base, profile: {}, peers }).get('db_main_public_url')).toBe('http://127.0.0.1:6');
    }
  });

  test('know the variables of the profile in lower case', () => {
    const values = placeholders({ base, profile: { POSTGRES_PORT: '5432' }, peers: [] });
    expect(values.get('postgres_port')).toBe('5432');
  });

  test('of one name: the peer counts before the profile, the profile before the base', () => {
    const values = placeholders({ base, profile: { PORT: '2', DB_MAIN_URL: 'x' }, peers: [db] });
    expect(values.get('port')).toBe('2');
    expect(values.get('db_main_url')).toBe('http://127.0.0.1:5');
  });
});
