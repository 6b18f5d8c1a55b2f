/**
 * The floor for a gateway in Node: `node relay.mjs COMMAND ARGS…` starts the server and joins the pipes. It looks at
 * no byte of what passes.
 */
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.on('exit', (code) => process.exit(code ?? 1));
