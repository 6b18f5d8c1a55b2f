/**
 * The processes of services in numbers, through the built program: every shape many times, `up` killed at random
 * moments, and records that name strangers.
 */
import { expect, test } from 'vitest';
import { SHAPES } from '../servers/shapes/watch.ts';
import {
  killedUp,
  processYard,
  recordTemplate,
  serviceCommand,
  shapesComeAndGo,
  shapeServices,
  staleTrial,
  stranger,
  TEN_SERVICES,
  type KillRound,
} from '../helpers/yard-processes.ts';

const HOUR = 3_600_000;
const SHAPE_ROUNDS = 25;
const KILLS = 200;
/** As many more after which nobody asks, and `down` comes at once. */
const HASTY = 40;
const STALE = 1000;
const STRANGERS = 20;

test(
  `nine shapes, ${SHAPE_ROUNDS} times: down leaves none`,
  async () => {
    const yard = await processYard(shapeServices());
    for (let round = 1; round <= SHAPE_ROUNDS; round++) await shapesComeAndGo(yard);
    console.log(`${SHAPE_ROUNDS * SHAPES.length} services came and went, none was left`);
  },
  HOUR,
);

test(
  `${KILLS} kill -9 of up at random moments over ten services: all are known, and down stops all`,
  async () => {
    const yard = await processYard(TEN_SERVICES);
    const began = performance.now();
    await yard.ask('up', '--no-wait');
    const whole = performance.now() - began;
    await yard.ask('down');
    /** How many services ran at the moment of the kill, and how often. */
    const found = new Map<number, number>();
    for (let round = 0; round < KILLS + HASTY; round++) {
      if (round % 20 === 0) await yard.ask('proxy', 'stop');
      const moment: Pick<KillRound, 'from' | 'after'> =
        round % 2 === 0
          ? { from: 'start', after: Math.random() * whole }
          : { from: 'intent', after: Math.random() * 60 };
      const ran = await killedUp(yard, { ...moment, look: round < KILLS });
      if (round < KILLS) found.set(ran, (found.get(ran) ?? 0) + 1);
    }
    const counts = [...found].sort(([a], [b]) => a - b).map(([ran, times]) => `${ran}: ${times}`);
    console.log(`${KILLS} kills; services that ran then, and how often: ${counts.join(', ')}`);
    expect((await yard.ask('up', '--no-wait')).ok).toBe(true);
  },
  HOUR,
);

test(
  `${STALE} records that name another process: never signalled`,
  async () => {
    const yard = await processYard(
      `[services.web]\ncommand = "${serviceCommand('plain-http')}"\nready_timeout = 60\n`,
    );
    const template = await recordTemplate(yard);
    const strangers = [];
    while (strangers.length < STRANGERS) strangers.push(await stranger());
    let trials = 0;
    for (let round = 0; trials < STALE; round++) {
      trials += await staleTrial(yard, { template, strangers, round });
    }
    console.log(`${trials} records, ${strangers.flatMap(({ signals }) => signals).length} signals`);
  },
  HOUR,
);
