/**
 * Differential fidelity: the same traffic goes to a server directly and through the gateway, and what comes back must be
 * the same text, character by character. Where the gateway is meant to differ, INTENDED says so, and why; what else
 * differs is a fault.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fold, itemsAt, replaceAt } from '../helpers/json-text.ts';
import { ownState } from '../helpers/gateway.ts';
import { startClient, type RawClient } from '../helpers/raw-client.ts';
import { createProject, type Project } from '../helpers/temp-project.ts';
import { record, type Heard, type Step, type Traffic, type Transcript } from '../helpers/traffic.ts';
import { everything, UNKNOWN_METHOD } from './traffic/everything.ts';
import { filesystem } from './traffic/filesystem.ts';
import { memory } from './traffic/memory.ts';
import { oddFields } from './traffic/odd-fields.ts';

type Side = 'direct' | 'through';

interface Subject {
  readonly server: string;
  readonly side: Side;
  readonly step: Step;
}

interface Difference {
  readonly what: string;
  readonly why: string;
  /** Whether it concerns the answer to this step. */
  readonly concerns: (step: Step) => boolean;
  /** What is compared in the place of the text. */
  readonly view: (text: string, subject: Subject) => string;
}

/** For each list, where its items are, and which of their members tells the server's name. */
const LISTS: Readonly<Record<string, { readonly items: string; readonly marked: string }>> = {
  'tools/list': { items: 'tools', marked: 'description' },
  'resources/list': { items: 'resources', marked: 'name' },
  'resources/templates/list': { items: 'resourceTemplates', marked: 'name' },
  'prompts/list': { items: 'prompts', marked: 'description' },
};

/** Asked by the client, answered by us: a server is told when and what it needs. */
const OURS = ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'];

const INTENDED: readonly Difference[] = [
  {
    what: 'the result of initialize',
    why: 'The gateway introduces itself; what it can do is more than what one server can.',
    concerns: ({ method }) => method === 'initialize',
    view: (text) => (itemsAt(text) === undefined && text.includes('"result"') ? 'a result' : text),
  },
  {
    what: 'the mark `[server] ` in the items of a list, and what stands around the items',
    why:
      'Items of several servers stand in one list, marked with their server; cursors and other members of one ' +
      "server's list say nothing about the whole. A marked text is written anew, so that it is compared as a value.",
    concerns: ({ method, unknown }) => Object.hasOwn(LISTS, method) && unknown === undefined,
    view: (text, { server, side, step }) => {
      const { items, marked } = LISTS[step.method]!;
      const mark = side === 'direct' ? `[${server}] ` : '';
      return (
        itemsAt(text, 'result', items)
          ?.map((item) =>
            replaceAt(item, [marked], (raw) => JSON.stringify(mark + (JSON.parse(raw) as string))),
          )
          .join('\n') ?? text
      );
    },
  },
  {
    what: 'how the answers to ping, logging/setLevel, resources/subscribe and resources/unsubscribe are written',
    why: 'One such request of the client becomes none or several to servers, so the answer is our own; its value is the same.',
    concerns: ({ method }) => OURS.includes(method),
    view: (text) => {
      const { id, result, error } = JSON.parse(text) as Record<string, unknown>;
      return JSON.stringify({ id, result, error });
    },
  },
  {
    what: 'the refusal of a tool, resource, prompt or template that does not exist',
    why: 'No server has it, so the gateway asks none and says so itself: −32602, or −32002 for a resource, and the name.',
    concerns: ({ unknown }) => unknown !== undefined,
    view: (text, { side, step }) => {
      const { error, result } = JSON.parse(text) as { error?: any; result?: any };
      const code = step.method === 'resources/read' ? -32002 : -32602;
      const refusal = `refused with ${code}, naming ${step.unknown!}`;
      if (side === 'direct') return error !== undefined || result?.isError === true ? refusal : text;
      return error?.code === code && error.message.includes(step.unknown) ? refusal : text;
    },
  },
  {
    what: 'the words in which an unknown method is refused',
    why: 'With several servers there is none to ask; −32601 says it all.',
    concerns: ({ method }) => method === UNKNOWN_METHOD,
    view: (text) => String(JSON.parse(text).error?.code),
  },
];

/** These come when they come: one that tells of a changed list is our own, sent once for however many. */
const OUR_NOTIFICATIONS = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;
// Not compared either: in which order notifications of different methods come, and whether before or after the answer
// of a call they do not belong to (`record` keeps them apart by method). Within a method the order counts; so does that
// of progress, questions and answer of one call.

interface Run {
  readonly transcript: Transcript;
  readonly client: RawClient;
  readonly project: Project;
}

describe.each([everything, filesystem, memory, oddFields])('server $server', (traffic) => {
  const open: { client: RawClient; project: Project }[] = [];
  let runs: Record<'direct' | 'again' | 'through', PromiseSettledResult<Run>>;

  beforeAll(async () => {
    const [direct, again, through] = await Promise.allSettled([
      run(traffic, 'direct', open),
      run(traffic, 'direct', open),
      run(traffic, 'through', open),
    ]);
    runs = { direct, again, through };
  }, 300_000);

  afterAll(async () => {
    await Promise.all(
      open.map(async ({ client, project }) => {
        await client.dispose();
        await project.remove();
      }),
    );
  });

  test('everything is answered, and two runs without the gateway say the same', () => {
    const [first, second] = [ran(runs.direct), ran(runs.again)];
    for (const step of traffic.steps) {
      const heard = show(first.steps.get(step.title));
      expect(heard, step.title).not.toMatch(/^answer: (?:not tried|Error: )/m);
      expect(show(second.steps.get(step.title)), step.title).toBe(heard);
    }
    expect(showAll(second)).toEqual(showAll(first));
  });

  const steps = traffic.steps.map((step) => [step.title, step] as const);

  test.each(steps)('%s: the same text through the gateway', (_title, step) => {
    const view = (transcript: Transcript, side: Side): string =>
      show(
        transcript.steps.get(step.title)?.map((heard) => {
          if (heard.kind !== 'answer') return heard;
          const difference = INTENDED.find(({ concerns }) => concerns(step));
          const subject = { server: traffic.server, side, step };
          return difference ? { ...heard, text: difference.view(heard.text, subject) } : heard;
        }),
      );
    expect(view(ran(runs.through), 'through')).toBe(view(ran(runs.direct), 'direct'));
  });

  test('every notification comes through with the same text, each method in its order', () => {
    expect(showAll(ran(runs.through))).toEqual(showAll(ran(runs.direct)));
  });

  test('the client sees nothing but messages, each of its requests answered once', () => {
    ran(runs.through);
    if (runs.through.status === 'fulfilled') runs.through.value.client.check();
  });
});

/** Starts the server, or the gateway over it, and says everything to it. */
async function run(
  traffic: Traffic,
  side: Side,
  open: { client: RawClient; project: Project }[],
): Promise<Run> {
  const project = createProject();
  const dir = project.path('files');
  for (const [file, text] of Object.entries({ '.keep': '', ...traffic.files })) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  const server = traffic.start(dir);
  if (side === 'through') {
    project.write('switchboard.config.json', {
      exposure: 'flat',
      naming: 'plain',
      mcpServers: { [traffic.server]: server },
    });
  }
  const client = startClient({
    cwd: project.dir,
    ...(side === 'direct' ? server : { env: ownState(project) }),
    // A call of the other runs may keep both cores busy.
    deadline: 30_000,
  });
  open.push({ client, project });
  return { transcript: await record(client, traffic, dir), client, project };
}

function ran(run: PromiseSettledResult<Run>): Transcript {
  if (run.status === 'rejected') throw run.reason;
  return run.value.transcript;
}

/** One message after the other, one member a line, so that a difference can be read. */
function show(heard: readonly Heard[] = []): string {
  return heard.map(({ kind, text }) => `${kind}: ${text.split('\n').map(readable).join('\n')}`).join('\n');
}

function readable(line: string): string {
  const folded = /^\s*[{[]/.test(line) ? fold(line) : line;
  return folded
    .split('\n')
    .map((part) => (part.length <= 1000 ? part : `${part.slice(0, 900)}… ${part.length} ${digest(part)}`))
    .join('\n');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function showAll({ notifications, late }: Transcript): Record<string, string> {
  const shown = [...notifications]
    .filter(([method]) => !OUR_NOTIFICATIONS.test(method))
    .map(([method, heard]) => [method, show(heard)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...Object.fromEntries(shown), 'too late': show(late) };
}
