/** `up` in a process of its own, for tests that kill it: its options as JSON, then its result as JSON on stdout. */
import { openContext } from '../../src/switchyard/records/project/context.ts';
import { up, type UpOptions } from '../../src/switchyard/features/up/up.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as Partial<UpOptions>;
const context = openContext({ cwd: process.cwd(), env: process.env });
const result = await up(context, { services: [], ...options });
process.stdout.write(JSON.stringify(result), () => process.exit(result.ok ? 0 : 1));
