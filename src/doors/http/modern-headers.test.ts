import { describe, expect, test } from 'vitest';
import { CLIENT_SHAPE, MODERN_VERSION, type JsonObject } from '../../protocol/index.ts';
import { Message } from '../../wire/index.ts';
import { headerFault, type RepeatedParam } from './modern-headers.ts';
import { modernPost, modernRequest } from './modern-requests.cases.ts';

const PARAMS: readonly RepeatedParam[] = [
  { header: 'Region', path: ['region'] },
  { header: 'Size', path: ['deep', 'size'] },
  { header: 'On', path: ['on'] },
];

/** The fault of a message with its proper headers, to which these are added or which they replace. */
function fault(message: JsonObject, headers: Record<string, string | undefined> = {}): string | undefined {
  return headerFault(
    { ...modernPost(message, headers).headers },
    Message.from(message, CLIENT_SHAPE),
    (tool) => (tool === 'run' ? PARAMS : []),
  );
}

const call = (args: unknown = {}, name = 'run'): JsonObject =>
  modernRequest(1, 'tools/call', { name, arguments: args });

const base64 = (text: string | Buffer): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('the headers that every request has', () => {
  test('are fine where they say what the body says', () => {
    expect(fault(modernRequest(1, 'tools/list'))).toBeUndefined();
    expect(fault(call())).toBeUndefined();
    expect(fault(modernRequest(1, 'prompts/get', { name: 'p' }))).toBeUndefined();
    expect(fault(modernRequest(1, 'resources/read', { uri: 'mem://one' }))).toBeUndefined();
  });

  test.each([
    ['MCP-Protocol-Version', undefined, `header is missing; the body says '${MODERN_VERSION}'`],
    ['MCP-Protocol-Version', '2025-11-25', `says '2025-11-25', the body '${MODERN_VERSION}'`],
    ['MCP-Protocol-Version', `${MODERN_VERSION}, ${MODERN_VERSION}`, 'the body'],
    ['Mcp-Method', undefined, "header is missing; the body says 'tools/call'"],
    ['Mcp-Method', 'tools/list', "says 'tools/list', the body 'tools/call'"],
    ['Mcp-Method', 'TOOLS/CALL', "says 'TOOLS/CALL', the body 'tools/call'"],
    ['Mcp-Name', undefined, "header is missing; the body says 'run'"],
    ['Mcp-Name', '', "says '', the body 'run'"],
    ['Mcp-Name', 'Run', "says 'Run', the body 'run'"],
  ])('are refused where %s is %j', (header, value, said) => {
    const found = fault(call(), { [header.toLowerCase()]: value });
    expect(found).toContain(`the ${header} header`);
    expect(found).toContain(said);
  });

  test('are those of the address for a resource', () => {
    const read = modernRequest(1, 'resources/read', { uri: 'mem://one' });
    expect(fault(read, { 'mcp-name': 'mem://two' })).toContain("the body 'mem://one'");
    expect(fault(read, { 'mcp-name': undefined })).toContain('Mcp-Name header is missing');
  });

  test('need no name where the method has none, or the request lacks it', () => {
    expect(fault(modernRequest(1, 'tools/list'), { 'mcp-name': 'whatever' })).toBeUndefined();
    expect(fault(modernRequest(1, 'tools/call', { arguments: {} }), { 'mcp-name': 'x' })).toBeUndefined();
  });

  test('name the task where they name anything', () => {
    const get = modernRequest(1, 'tasks/get', { taskId: 't1' });
    expect(fault(get)).toBeUndefined();
    expect(fault(get, { 'mcp-name': 't1' })).toBeUndefined();
    expect(fault(get, { 'mcp-name': 't2' })).toContain("the body 't1'");
  });

  test('are not looked at where there is no version, or one that we do not speak', () => {
    const bare = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect(fault(bare, { 'mcp-method': undefined })).toBeUndefined();
    const future = modernRequest(1, 'tools/list', {
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2031-01-01' },
    });
    expect(fault(future, { 'mcp-protocol-version': '2031-01-01', 'mcp-method': undefined })).toBeUndefined();
    expect(fault(future, { 'mcp-method': undefined })).toContain("the body '2031-01-01'");
  });
});

describe('a name in Base64', () => {
  test.each(['Grüße 世界', ' padded ', 'line1\nline2', '=?base64?literal?=', '', '\ufeffmarked', 'plain'])(
    'is read: %j',
    (name) => {
      expect(fault(call({}, name), { 'mcp-name': base64(name) })).toBeUndefined();
      expect(fault(call({}, name), { 'mcp-name': base64(`${name}!`) })).toContain('the body');
    },
  );

  test.each([
    ['what is no Base64', '=?base64?***?='],
    ['Base64 without its end', '=?base64?cnV?='],
    ['Base64 with blanks', '=?base64?cn Vu?='],
    ['no UTF-8', base64(Buffer.from([0xc3, 0x28]))],
    ['letters beyond ASCII', 'Gr\u00fc\u00dfe'],
    ['a control character', 'r\u0001un'],
  ])('is refused where it is %s', (_what, value) => {
    expect(fault(call(), { 'mcp-name': value })).toMatch(
      /the Mcp-Name header is neither printable ASCII nor Base64/,
    );
  });

  test.each(['=?BASE64?cnVu?=', '=?base64?cnVu', '=?base64?='])(
    'is %j as it stands without its marks',
    (value) => {
      expect(fault(call({}, value), { 'mcp-name': value })).toBeUndefined();
      expect(fault(call(), { 'mcp-name': value })).toContain('the body');
    },
  );
});

test('an error quotes only part of a long name, without control characters', () => {
  const found = fault(call({}, `\u001b[31m${'x'.repeat(5000)}`), { 'mcp-name': 'other' })!;
  expect(found.length).toBeLessThan(300);
  expect(found).toContain("'\\x1b[31m");
  // eslint-disable-next-line no-control-regex
  expect(found).not.toMatch(/[\u0000-\u001f]/);
});

describe('the headers of parameters', () => {
  const all = { region: 'eu', deep: { size: 42 }, on: true };
  const fitting = { 'mcp-param-region': 'eu', 'mcp-param-size': '42', 'mcp-param-on': 'true' };

  test('are fine where they say what the arguments say', () => {
    expect(fault(call(all), fitting)).toBeUndefined();
    expect(fault(call(all), { ...fitting, 'mcp-param-region': base64('eu') })).toBeUndefined();
    expect(fault(call({ region: 'Grüße' }), { 'mcp-param-region': base64('Grüße') })).toBeUndefined();
  });

  test('are nobody’s business where the tool has none', () => {
    expect(fault(call(all, 'other'), { 'mcp-param-region': 'us' })).toBeUndefined();
    expect(fault(call({}), { 'mcp-param-unknown': 'x' })).toBeUndefined();
  });

  test.each(['42', '42.0', '042'])('compare numbers as numbers: %s', (size) => {
    expect(fault(call({ deep: { size: 42 } }), { 'mcp-param-size': size })).toBeUndefined();
  });

  test.each(['43', '0x2a', '4.2e1', '', '42 ', 'forty-two', '-42'])('but not %j', (size) => {
    expect(fault(call({ deep: { size: 42 } }), { 'mcp-param-size': size })).toContain("'Mcp-Param-Size'");
  });

  test.each(['True', '1', 'false', ''])('take no %j for true', (on) => {
    expect(fault(call({ on: true }), { 'mcp-param-on': on })).toContain("'arguments.on'");
  });

  test('must be there where the argument is', () => {
    expect(fault(call({ region: 'eu' }))).toBe(
      "the header 'Mcp-Param-Region' is missing; it must match 'arguments.region'",
    );
    expect(fault(call({ region: '' }))).toContain("'Mcp-Param-Region' is missing");
    expect(fault(call({ deep: { size: 0 } }))).toContain("'Mcp-Param-Size' is missing");
    expect(fault(call({ on: false }))).toContain("'Mcp-Param-On' is missing");
  });

  test.each([{}, { region: null }, undefined, null, [], 'text'])('must not be there for %j', (args) => {
    expect(fault(call(args))).toBeUndefined();
    expect(fault(call(args), { 'mcp-param-region': 'eu' })).toBe(
      "the header 'Mcp-Param-Region' is present, but 'arguments.region' is not",
    );
  });

  test('are not asked for where a value fits no header', () => {
    expect(fault(call({ region: { a: 1 } }))).toBeUndefined();
    expect(fault(call({ region: { a: 1 } }), { 'mcp-param-region': '[object Object]' })).toContain(
      'does not match',
    );
    expect(fault(call({ deep: { size: 2 ** 60 } }))).toBeUndefined();
  });

  test('find only what the client has put there itself', () => {
    const inherited: readonly RepeatedParam[] = [{ header: 'A', path: ['constructor', 'name'] }];
    const message = call({});
    const { headers } = modernPost(message);
    expect(headerFault({ ...headers }, Message.from(message, CLIENT_SHAPE), () => inherited)).toBeUndefined();
  });

  test('are refused where they hold invalid characters, and no value is repeated', () => {
    const said = fault(call({ region: 'geheim' }), { 'mcp-param-region': 'ge\u00e4heim' });
    expect(said).toContain("the 'Mcp-Param-Region' header is neither printable ASCII");
    const other = fault(call({ region: 'geheim' }), { 'mcp-param-region': 'verraten' });
    expect(other).toBe("the header 'Mcp-Param-Region' does not match 'arguments.region'");
  });
});
