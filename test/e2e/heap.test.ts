import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

// Windows has no such signal.
test.skipIf(process.platform === 'win32')(
  'the heap does not grow for what is short-lived before the first relayed call, and does from then on',
  async () => {
    const file = createProject().path('sizes');
    const { client, call, introspect } = await startGateway(
      { echo: nodeServer('echo') },
      {
        env: {
          NODE_OPTIONS: `--require=${join(ROOT, 'test/helpers/young-generation.cjs')}`,
          YOUNG_GENERATION_FILE: file,
        },
      },
    );
    const sizes = (): number[] =>
      existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').map(Number.parseFloat) : [];
    const sizeAfterLoad = async (): Promise<number> => {
      const before = sizes().length;
      process.kill(client.pid ?? 0, 'SIGUSR2');
      await until(() => sizes().length > before, { what: 'the size' });
      return sizes().at(-1) ?? 0;
    };
    await introspect('echo');
    expect(await sizeAfterLoad()).toBeLessThanOrEqual(4);
    await call('echo', 'echo', { text: 'x' });
    expect(await sizeAfterLoad()).toBeGreaterThan(4);
  },
);
