import { SHAPES, shapeArgs } from '../servers/shapes/watch.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { processesWith } from './processes.ts';
import { serverPath } from './temp-project.ts';
import { until } from './until.ts';

/**
 * Shapes whose root process exits: for a gateway, the server has exited, and what it left behind must be cleaned up.
 */
const LEAVING = ['leader-exits', 'setsid-orphan'];

/**
 * A gateway with a running server of every process shape. Each ignores the end of its stdin and every signal but
 * SIGKILL, so nothing ends by itself.
 */
export async function startEveryProcessShape(): Promise<TestGateway> {
  const servers = Object.fromEntries(
    SHAPES.map((shape) => [
      shape,
      { command: process.execPath, args: shapeArgs(shape, process.execPath, serverPath('stubborn')) },
    ]),
  );
  const gateway = await startGateway(servers);
  const fails = async (shape: string): Promise<boolean> =>
    (await gateway.call(shape, 'pid')).result?.isError === true;
  await Promise.all(
    SHAPES.map(async (shape) => {
      // The processes left behind have the pipes too, and may respond before the root process exits.
      if (LEAVING.includes(shape)) await until(() => fails(shape), { what: `${shape} to have left` });
      else if (await fails(shape)) throw new Error(`${shape} does not run.`);
    }),
  );
  const running = SHAPES.length - LEAVING.length;
  await until(() => processesWith(gateway.client.marker).length > running, { what: 'every shape runs' });
  return gateway;
}
