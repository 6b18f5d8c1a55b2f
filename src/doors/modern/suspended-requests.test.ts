import { expect, onTestFinished, test } from 'vitest';
import { SuspendedRequests, type SuspendedRequestsOptions, type Suspendable } from './suspended-requests.ts';

class Patient implements Suspendable {
  readonly bytes: number;
  expirations = 0;
  #over: () => void = () => undefined;
  readonly expired = new Promise<void>((resolve) => {
    this.#over = resolve;
  });

  constructor(bytes = 1) {
    this.bytes = bytes;
  }

  expire(): void {
    this.expirations++;
    this.#over();
  }
}

function openSuspended(options?: SuspendedRequestsOptions): SuspendedRequests<Patient> {
  const suspended = new SuspendedRequests<Patient>(options);
  onTestFinished(() => suspended.close());
  return suspended;
}

test('a state brings back what it was given for, once', () => {
  const suspended = openSuspended();
  const [one, two] = [new Patient(), new Patient()];
  const [first, second] = [suspended.add(one)!, suspended.add(two)!];
  expect(suspended.size).toBe(2);
  expect(suspended.take(second)).toBe(two);
  expect(suspended.take(second)).toBeUndefined();
  expect(suspended.take(first)).toBe(one);
  expect(suspended.size).toBe(0);
  expect([one.expirations, two.expirations]).toEqual([0, 0]);
});

test('a state tells nothing, is known as ours, and is never the same', () => {
  const suspended = openSuspended();
  const states = Array.from({ length: 200 }, () => suspended.add(new Patient())!);
  expect(new Set(states).size).toBe(200);
  for (const state of states) {
    expect(state).toMatch(/^switchboard\.[\w-]{43}$/);
    expect(SuspendedRequests.isOurs(state)).toBe(true);
  }
  expect(SuspendedRequests.isOurs('somebody.else')).toBe(false);
});

test('no other text opens anything', () => {
  const suspended = openSuspended();
  const state = suspended.add(new Patient())!;
  for (const other of ['', 'switchboard.', `${state} `, state.toUpperCase(), state.slice(1), '__proto__'])
    expect(suspended.take(other)).toBeUndefined();
  expect(suspended.size).toBe(1);
});

test('there is room for a limited number, and again when one has left', () => {
  const suspended = openSuspended({ maxRequests: 2 });
  const first = suspended.add(new Patient())!;
  suspended.add(new Patient());
  expect(suspended.add(new Patient())).toBeUndefined();
  suspended.take(first);
  expect(suspended.add(new Patient())).toBeDefined();
  expect(suspended.add(new Patient())).toBeUndefined();
});

test('they may hold so much together', () => {
  const suspended = openSuspended({ maxBytes: 100 });
  const first = suspended.add(new Patient(60))!;
  expect(suspended.add(new Patient(41))).toBeUndefined();
  expect(suspended.add(new Patient(40))).toBeDefined();
  expect(suspended.add(new Patient(1))).toBeUndefined();
  suspended.take(first);
  expect(suspended.add(new Patient(60))).toBeDefined();
});

test('what it holds is counted as it was when it came, though it holds something else when it leaves', () => {
  const suspended = openSuspended({ maxBytes: 100 });
  for (let time = 0; time < 20; time++) {
    const growing = { bytes: 90, expire: () => undefined };
    const state = (suspended as unknown as SuspendedRequests<Suspendable>).add(growing)!;
    expect(state, `time ${time}`).toBeDefined();
    growing.bytes = time % 2 === 0 ? 10 : 190;
    suspended.take(state);
  }
});

test('who does not come back in time is expired, the oldest first, and nobody twice', async () => {
  const suspended = openSuspended({ ageMs: 30 });
  const order: string[] = [];
  const waiting = ['a', 'b', 'c'].map((name) => {
    const patient = new Patient();
    void patient.expired.then(() => order.push(name));
    return patient;
  });
  const states = waiting.map((patient) => suspended.add(patient)!);
  expect(suspended.take(states[1]!)).toBe(waiting[1]);
  await Promise.all([waiting[0]!.expired, waiting[2]!.expired]);
  expect(order).toEqual(['a', 'c']);
  expect(suspended.size).toBe(0);
  expect(suspended.take(states[0]!)).toBeUndefined();
  expect(waiting.map(({ expirations }) => expirations)).toEqual([1, 0, 1]);
});

test('one that comes later waits as long as any other', async () => {
  const suspended = openSuspended({ ageMs: 100 });
  const early = new Patient();
  suspended.add(early);
  await early.expired;
  const late = new Patient();
  const since = performance.now();
  suspended.add(late);
  await late.expired;
  expect(performance.now() - since).toBeGreaterThan(95);
});

test('at the end all are expired, and each once', () => {
  const suspended = openSuspended();
  const waiting = [new Patient(), new Patient()];
  for (const patient of waiting) suspended.add(patient);
  suspended.close();
  suspended.close();
  expect(waiting.map(({ expirations }) => expirations)).toEqual([1, 1]);
  expect(suspended.size).toBe(0);
});

test('one that is expired and parks another meanwhile does not keep the rest from their end', async () => {
  const suspended = openSuspended({ ageMs: 20 });
  const last = new Patient();
  const again: Suspendable = { bytes: 1, expire: () => void suspended.add(last) };
  (suspended as unknown as SuspendedRequests<Suspendable>).add(again);
  const other = new Patient();
  suspended.add(other);
  await Promise.all([other.expired, last.expired]);
  expect(suspended.size).toBe(0);
});

test('what grows while it waits counts with all it holds, and is refused more than there is room for', () => {
  const suspended = openSuspended({ maxBytes: 10 });
  const state = suspended.add(new Patient(4))!;
  expect(suspended.addBytes(state, 5)).toBe(true);
  expect(suspended.addBytes(state, 2)).toBe(false);
  expect(suspended.add(new Patient(2))).toBeUndefined();
  suspended.take(state);
  expect(suspended.addBytes(state, 1)).toBe(false);
  expect(suspended.add(new Patient(10))).toBeDefined();
});
