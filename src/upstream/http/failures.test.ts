import { expect, test } from 'vitest';
import { badStatus, wrongType } from './failures.ts';
import { RemoteEndpoint } from './remote-endpoint.ts';

const URL = 'http://127.0.0.1:9/mcp';

function siteWith(headers: Record<string, string> = {}): RemoteEndpoint {
  return new RemoteEndpoint('far', {
    kind: 'remote',
    transport: 'http',
    url: URL,
    shown: { url: URL },
    headers,
  });
}

const PAGE = `<!DOCTYPE html>
<html lang="en"><head><title>404 Not&nbsp;Found</title><style>body { color: red }</style>
<script>if (1 < 2) alert("x")</script></head>
<!-- nginx --><body class="a"><h1>Nothing here</h1><p>Fish &amp; chips`;

test('of a web page only the text is told, and not much of it', () => {
  const { message } = badStatus(siteWith(), 503, PAGE);
  expect(message).toBe("Server 'far' responded with HTTP 503 (404 Not Found Nothing here Fish & chips).");
  const long = wrongType(siteWith(), 'text/html', `<html><body>${'word '.repeat(100)}</body></html>`).message;
  expect(long).toContain(`(${'word '.repeat(24)}…)`);
});

test('a secret in a page is not told, however the page writes it', () => {
  const endpoint = siteWith({ 'X-Key': 'swordfish&0123' });
  for (const page of ['<html>swordfish&0123', '<html><b>swordfish&0123</b>', '<body>swordfish&amp;0123'])
    expect(badStatus(endpoint, 500, page).explained).not.toContain('swordfish');
});

test('what is no page is told as it is', () => {
  expect(badStatus(siteWith(), 500, '{"error":"<b>no</b>"}').message).toContain('({"error":"<b>no</b>"})');
});

test.each([400, 404, 405, 406, 415])(
  'initialize answered with %i may have been in the wrong transport',
  (status) => {
    const endpoint = siteWith();
    const { message, hint } = badStatus(endpoint, status, '');
    expect(message).toBe(`Server 'far' responded with HTTP ${status} to initialize at ${URL}.`);
    expect(hint).toMatch(/remove it.*Streamable HTTP and HTTP\+SSE.*path/);
    endpoint.version = '2025-06-18';
    expect(badStatus(endpoint, status, '').explained).not.toContain('"type"');
  },
);
