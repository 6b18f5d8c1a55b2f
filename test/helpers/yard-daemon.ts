/** `proxy serve`, `forward serve` and `checkout BRANCH` in a process of their own, without the rest of the command line. */
import { parseArgs } from 'node:util';
import { openContext } from '../../src/switchyard/records/project/context.ts';
import { checkout } from '../../src/switchyard/features/checkout/checkout.ts';
import { serveForward } from '../../src/switchyard/features/forwarder/serve.ts';
import { serveProxy } from '../../src/switchyard/features/proxy/serve.ts';
import { homeOf } from '../../src/switchyard/records/state/home.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { home: { type: 'string' }, host: { type: 'string' }, port: { type: 'string' } },
});
const home = homeOf({ SWITCHYARD_HOME: values.home });
const [command, branch = ''] = positionals;
if (command === 'checkout') {
  await checkout(openContext({ cwd: process.cwd(), env: process.env }), { branch, services: [] });
} else if (command === 'forward') await serveForward({ home });
else await serveProxy({ home, host: values.host ?? '127.0.0.1', port: Number(values.port) });
process.exit(0);
