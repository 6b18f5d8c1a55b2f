import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PEOPLE = ['ada', 'grace', 'linus', 'margaret', 'dennis', 'barbara'];
const TOPICS = ['login', 'export', 'search', 'billing', 'upload', 'editor', 'sync', 'mobile'];
const DAY = 86_400_000;
/** The current date in the tasks. */
const TODAY = Date.UTC(2026, 0, 31);

/** Writes the initial data of all tasks to a folder. */
export function writeTaskData({ files, issues, graph }) {
  rmSync(files, { recursive: true, force: true });
  for (const part of ['notes', 'config', 'src/core', 'src/web'])
    mkdirSync(join(files, part), { recursive: true });
  for (let n = 1; n <= 20; n++) writeFileSync(join(files, 'notes', `meeting-${pad(n)}.md`), note(n));
  for (let n = 1; n <= 8; n++)
    writeFileSync(join(files, 'config', `service-${n}.json`), JSON.stringify(service(n), undefined, 2));
  for (let n = 1; n <= 12; n++)
    writeFileSync(join(files, n % 2 ? 'src/core' : 'src/web', `part-${n}.ts`), source(n));
  writeFileSync(join(files, 'contacts.csv'), contacts());
  writeFileSync(issues, JSON.stringify(Array.from({ length: 180 }, (_, n) => issue(180 - n))));
  writeFileSync(graph, Array.from({ length: 60 }, (_, n) => JSON.stringify(entity(n + 1))).join('\n'));
}

function note(n) {
  const topic = TOPICS[n % TOPICS.length];
  const decided = n % 4 === 0 ? `\nDecision: the budget for ${topic} is raised by ${n} %.\n` : '\n';
  const talk = Array.from(
    { length: 12 },
    (_, at) =>
      `- ${PEOPLE[(n + at) % PEOPLE.length]} reports on ${TOPICS[(n + at) % TOPICS.length]}: work goes on as planned, two points are open and will be looked at next week.`,
  );
  return `# Meeting ${n}\n\nOwner: ${PEOPLE[n % PEOPLE.length]}\n\n${talk.join('\n')}\n${decided}`;
}

function service(n) {
  return {
    name: `service-${n}`,
    port: 4000 + n,
    timeout: n % 2 ? 30 : 60,
    region: n % 3 ? 'eu-west' : 'us-east',
    limits: { memory: 256 * n, cpu: n },
    owners: [PEOPLE[n % PEOPLE.length]],
  };
}

function source(n) {
  const body = Array.from(
    { length: 25 },
    (_, at) => `export function step${n}_${at}(input: string): string {\n  return input.trim() + '${at}';\n}`,
  );
  // Data of a task, which collects these comments.
  body.splice(7, 0, `// TODO(${PEOPLE[n % PEOPLE.length]}): handle empty input in part ${n}`);
  return `${body.join('\n\n')}\n`;
}

function contacts() {
  const rows = Array.from(
    { length: 24 },
    (_, n) => `Person ${n + 1},person${n + 1}@example.org,Company ${(n % 5) + 1}`,
  );
  return ['name,email,company', ...rows].join('\n');
}

function entity(n) {
  const year = 2022 + (n % 5);
  return {
    type: 'entity',
    name: `customer-${n}`,
    entityType: 'customer',
    observations: [`last order: ${year}-0${(n % 9) + 1}-15`, `plan: ${n % 3 ? 'basic' : 'premium'}`],
  };
}

function user(login) {
  const url = `https://tracker.example.org/users/${login}`;
  return { login, id: login.length * 1000, avatar_url: `${url}/avatar.png`, html_url: url, type: 'User' };
}

function issue(number) {
  const topic = TOPICS[number % TOPICS.length];
  const html_url = `https://tracker.example.org/issues/${number}`;
  const isClosed = number % 3 === 0;
  const updated = TODAY - ((number * 7) % 120) * DAY;
  return {
    id: 900_000 + number,
    number,
    title: `${topic}: step ${number} fails ${number % 2 ? 'on slow networks' : 'with long names'}`,
    state: isClosed ? 'closed' : 'open',
    html_url,
    comments_url: `${html_url}/comments`,
    user: user(PEOPLE[number % PEOPLE.length]),
    assignee: number % 5 === 0 ? null : user(PEOPLE[(number + 2) % PEOPLE.length]),
    labels: [{ id: 1, name: number % 2 ? 'bug' : 'feature', color: 'd73a4a' }],
    milestone: { title: `2.${number % 4}`, due_on: '2026-03-01T00:00:00Z' },
    comments: number % 6,
    created_at: new Date(updated - 30 * DAY).toISOString(),
    updated_at: new Date(updated).toISOString(),
    closed_at: isClosed ? new Date(updated).toISOString() : null,
    body: `Steps:\n1. Open ${topic}\n2. Do what part ${number} of the plan says\n3. See the error\n\nExpected: no error. Seen on version 2.${number % 4}.`,
  };
}

const pad = (n) => String(n).padStart(2, '0');
