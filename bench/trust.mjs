import { measureInTurns, open, summary, throughSuite } from './call.mjs';
import { project, RELAY, CHILD } from './lib/project.mjs';
import { pin, stop } from './lib/processes.mjs';

const HOOKS = 'export function beforeCall() {}\nexport function afterCall() {}\n';
/** Settings that check calls, each alone. The first has none of them. */
const SETTINGS = [
  { name: 'none: no hooks, "pin": "off", no audit', settings: { pin: 'off' } },
  { name: 'the same again', settings: { pin: 'off' } },
  { name: 'default: "pin": "warn"', settings: {} },
  { name: '"pin": "block"', settings: { pin: 'block' } },
  { name: '"audit": true', settings: { pin: 'off', audit: true } },
  { name: '"approve" that asks about no tool', settings: { pin: 'off', approve: ['nothing_*'] } },
  { name: 'hooks that do nothing', settings: { pin: 'off' }, hooks: HOOKS },
];
const CELLS = [1, 16].map((inFlight) => ({ text: 'code', bytes: 100, inFlight, calls: 400 }));

/**
 * What hooks, pins, approval and the audit log add to a call: CPU time of the gateway process in microseconds, with all
 * settings measured in alternation.
 */
export async function measureTrust({ entry, rounds }) {
  const pinned = pin();
  try {
    const cells = [];
    for (const cell of CELLS) {
      const subjects = [
        await open('relay', [RELAY, process.execPath, CHILD], undefined, (args) => ({
          name: 'echo',
          arguments: args,
        })),
      ];
      const names = ['bare relay'];
      for (const { name, settings, hooks } of SETTINGS) {
        const cwd = project(1, 'config', { settings, hooks });
        subjects.push(await open('gateway', [entry], cwd, throughSuite));
        names.push(name);
      }
      const seen = await measureInTurns(cell, subjects, rounds);
      for (const { child } of subjects) await stop(child);
      cells.push({ ...cell, rows: seen.map((each, index) => ({ name: names[index], ...summary(each) })) });
    }
    return { core: pinned.core, cells };
  } finally {
    pinned.release();
  }
}
