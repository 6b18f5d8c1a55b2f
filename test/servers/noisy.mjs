/**
 * Writes things to stdout that are no messages: a banner before the first message, a line of text before every other.
 *
 *   node test/servers/noisy.mjs [--quiet] [--bom] [--crlf] [--json-noise] [--http-banner]
 *
 * `--quiet`: no banner and no noise lines. `--bom`: the very first bytes are a byte order mark. `--crlf`: messages end in
 * \r\n. `--json-noise`: the noise between messages is JSON, but no JSON-RPC (log objects, arrays, numbers, null, blank
 * lines). `--http-banner`: the head of an HTTP response before the first message.
 * Tools: trailing {clean_after} (its answer has text behind it on the same line; the clean answer follows only when
 * asked for), leading (text before its answer on the same line, then the clean answer), http_dump (the head of an HTTP response
 * before its answer), echo, pid, canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, flag, serve, takes, text } from './lib/server.mjs';

const end = flag('crlf') ? '\r\n' : '\n';
const noise = flag('json-noise')
  ? [
      '{"level":"info","message":"ready"}',
      '[1,2,3]',
      '42',
      'null',
      '"text"',
      '',
      '{}',
      '{"id":1}',
      '{"jsonrpc":"2.0"}',
    ]
  : ['[info] working…', 'done: 100%', 'Content: something', '{not json', 'undefined'];
let sent = 0;

if (flag('bom')) process.stdout.write('\ufeff');
const httpHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000000\r\n\r\n';
if (flag('http-banner')) process.stdout.write(httpHead.slice(httpHead.indexOf('Content-Length')));
if (!flag('quiet')) process.stdout.write(`*** Noisy server 1.0 ***${end}Listening on stdio${end}`);

serve({
  name: 'noisy',
  send: (json, write) => {
    if (!flag('quiet')) write(noise[sent++ % noise.length] + end);
    write(json + end);
  },
  tools: {
    trailing: {
      description: 'Answers with text behind the message on its line.',
      inputSchema: takes({ clean_after: 'boolean' }),
      run: ({ clean_after: cleanAfter = false }, ctx) => {
        ctx.server.write(`${ctx.responseText(JSON.stringify(text('trailing')))} // done${end}`);
        return cleanAfter ? 'clean' : NO_ANSWER;
      },
    },
    leading: {
      description: 'Answers with text before the message on its line, then cleanly.',
      run: (_args, ctx) => {
        ctx.server.write(`debug: ${ctx.responseText(JSON.stringify(text('leading')))}${end}`);
        return 'clean';
      },
    },
    http_dump: {
      description: 'Prints the head of an HTTP response, then answers.',
      run: (_args, ctx) => {
        ctx.server.write(httpHead);
        return 'clean';
      },
    },
    ...basicTools,
  },
});
