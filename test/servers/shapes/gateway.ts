// A program with children, like the gateway: `gateway.mjs <shape>…` starts all shapes through it, says
// `ready <shape> <pid> …` on stdout for each, and stays. The shape `nested` is another such gateway. `stop` on
// stdin ends the children and the program, `throw` is the exit of an uncaught exception. RECORDS is the directory for
// its record.
import { createChildProcesses } from '../../../src/process/index.ts';
import { silentLogger } from '../../../src/shared/log.ts';
import { readyShape } from './watch.ts';

const [shapeProgram = '', ...shapes] = process.argv.slice(2);
const children = createChildProcesses({
  log: silentLogger,
  records: process.env['RECORDS'],
  // Everything must be found without them too.
  cgroups: false,
});
const env = process.env as Record<string, string>;

await Promise.all(
  shapes.map(async (shape) => {
    const args =
      shape === 'nested'
        ? [process.argv[1]!, shapeProgram, 'setsid-orphan', 'double-fork', 'plain']
        : [shapeProgram, shape];
    const child = children.spawn({ name: shape, command: process.execPath, args, cwd: process.cwd(), env });
    const ready = await readyShape(shape === 'nested' ? child.stdout : child.stderr);
    process.stdout.write(ready.map(({ role, pid }) => `ready ${shape}-${role} ${pid}\n`).join(''));
  }),
);
process.stdout.write(`ready leaf ${process.pid}\n`);

process.stdin.on('data', (text: Buffer) => {
  if (text.toString().startsWith('throw')) {
    children.killAllNow();
    process.exit(1);
  }
  void children.stopAll({ term: 0, kill: 1000 }).then((report) => {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    process.exit(0);
  });
});
