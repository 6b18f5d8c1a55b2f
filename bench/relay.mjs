/**
 * The lower bound for a gateway in Node: `node relay.mjs COMMAND ARGS…` starts the server and connects the pipes. It
 * inspects nothing that passes through.
 */
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.on('exit', (code) => process.exit(code ?? 1));
