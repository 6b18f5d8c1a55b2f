/**
 * Tells what it was given: writes all values of its environment and its arguments to stderr that contain a text, in many
 * forms.
 *
 *   node test/servers/telling.mjs --about=text [--die]
 *
 * Tools: fail and reject quote the same in an error, inside and outside the tool; die writes it again, and ends.
 * `--die`: it ends at once.
 */
import { URLSearchParams } from 'node:url';
import { flag, RpcError, serve, setting, text } from './lib/server.mjs';

const given = [...Object.values(process.env), ...process.argv.slice(2)].filter((value) =>
  value.includes(setting('about')),
);
const told = given.flatMap((value) => [
  value,
  JSON.stringify(value),
  JSON.stringify(JSON.stringify({ value })),
  encodeURIComponent(value),
  encodeURI(value),
  new URLSearchParams({ value }).toString(),
  Buffer.from(value).toString('base64'),
  Buffer.from(value).toString('base64url'),
]);
const tell = () => process.stderr.write(`refused ${told.join(' and ')} here\n`);

tell();
if (flag('die')) process.exit(3);

serve({
  name: 'telling',
  tools: {
    fail: { description: 'Fails.', run: () => ({ ...text(told.join(' ')), isError: true }) },
    reject: {
      description: 'Is refused.',
      run: () => {
        throw new RpcError(-32602, told.join(' '));
      },
    },
    die: {
      description: 'Ends.',
      run: () => {
        tell();
        process.exit(3);
      },
    },
  },
});
