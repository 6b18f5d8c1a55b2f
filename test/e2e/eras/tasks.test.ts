/** The tasks extension of 2026-07-28, between a modern client and a modern server: all of its methods pass through. */
import { expect, test } from 'vitest';
import { ALL_CAPABILITIES, ModernCaller } from '../../helpers/eras.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { startHttpGateway } from '../../helpers/http-gateway.ts';
import { nodeServer } from '../../helpers/temp-project.ts';
import { until } from '../../helpers/until.ts';

const TASKS = { ...ALL_CAPABILITIES, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FLAT = { exposure: 'flat', naming: 'prefixed' };
const SERVERS = { work: nodeServer('conformance', '--era=modern') };

const doors = {
  stdio: async () =>
    ModernCaller.over((await startGateway(SERVERS, { config: FLAT, raw: true })).client, TASKS),
  http: async () =>
    ModernCaller.overHttp(await startHttpGateway(SERVERS, { config: FLAT }), {
      capabilities: TASKS,
    }),
};

for (const [wire, open] of Object.entries(doors)) {
  test(`over ${wire}, a task is asked about, answered what it asks, and cancelled`, async () => {
    const client = await open();
    await until(async () => (await client.request('tools/list')).result.tools.length > 0, {
      what: 'the tools',
    });
    const begin = async (tool: string, args: object): Promise<string> => {
      const { result } = await client.call(`work__${tool}`, args);
      expect(result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 100 });
      return result.taskId as string;
    };
    const get = async (taskId: string): Promise<any> =>
      (await client.request('tasks/get', { taskId })).result;
    const reaches = (taskId: string, status: string): Promise<unknown> =>
      until(async () => (await get(taskId)).status === status, { what: `the task is ${status}` });

    const asking = await begin('confirm_delete', { filename: 'a.txt' });
    await reaches(asking, 'input_required');
    expect((await get(asking)).inputRequests).toMatchObject({
      confirm: { method: 'elicitation/create', params: { message: 'Delete a.txt?' } },
    });
    const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } };
    const updated = await client.request('tasks/update', { taskId: asking, inputResponses });
    expect(updated.error).toBeUndefined();
    await reaches(asking, 'completed');
    expect((await get(asking)).result.content).toEqual([{ type: 'text', text: 'Deleted a.txt.' }]);

    const slow = await begin('slow_compute', { seconds: 600 });
    expect((await client.request('tasks/cancel', { taskId: slow })).error).toBeUndefined();
    await reaches(slow, 'cancelled');

    const unknown = await client.request('tasks/cancel', { taskId: 'nobody’s' });
    expect(unknown.error?.code).toBe(-32602);
  });
}
