import { test } from 'vitest';
import { askDuring, openModern } from './modern.cases.ts';
test('x', async () => {
  const world = openModern();
  for (let n = 0; n < 1000; n++) {
    world.call(n);
    const call = await world.nextCall();
    askDuring(call);
    await world.answerTo(n);
  }
  const since = performance.now();
  world.home.close();
  console.log('close took', performance.now() - since);
}, 120_000);
