import { expect, onTestFinished, test } from 'vitest';
import { Parked, type ParkedOptions, type Waiting } from './parked.ts';

class Patient implements Waiting {
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

function parking(options?: ParkedOptions): Parked<Patient> {
  const parked = new Parked<Patient>(options);
  onTestFinished(() => parked.close());
  return parked;
}

test('a state brings back what it was given for, once', () => {
  const parked = parking();
  const [one, two] = [new Patient(), new Patient()];
  const [first, second] = [parked.add(one)!, parked.add(two)!];
  expect(parked.size).toBe(2);
  expect(parked.take(second)).toBe(two);
  expect(parked.take(second)).toBeUndefined();
  expect(parked.take(first)).toBe(one);
  expect(parked.size).toBe(0);
  expect([one.expirations, two.expirations]).toEqual([0, 0]);
});

test('a state tells nothing, is known as ours, and is never the same', () => {
  const parked = parking();
  const states = Array.from({ length: 200 }, () => parked.add(new Patient())!);
  expect(new Set(states).size).toBe(200);
  for (const state of states) {
    expect(state).toMatch(/^switchboard\.[\w-]{43}$/);
    expect(Parked.isOurs(state)).toBe(true);
  }
  expect(Parked.isOurs('somebody.else')).toBe(false);
});

test('no other text opens anything', () => {
  const parked = parking();
  const state = parked.add(new Patient())!;
  for (const other of ['', 'switchboard.', `${state} `, state.toUpperCase(), state.slice(1), '__proto__'])
    expect(parked.take(other)).toBeUndefined();
  expect(parked.size).toBe(1);
});

test('there is room for so many, and again when one has left', () => {
  const parked = parking({ most: 2 });
  const first = parked.add(new Patient())!;
  parked.add(new Patient());
  expect(parked.add(new Patient())).toBeUndefined();
  parked.take(first);
  expect(parked.add(new Patient())).toBeDefined();
  expect(parked.add(new Patient())).toBeUndefined();
});

test('they may hold so much together', () => {
  const parked = parking({ mostBytes: 100 });
  const first = parked.add(new Patient(60))!;
  expect(parked.add(new Patient(41))).toBeUndefined();
  expect(parked.add(new Patient(40))).toBeDefined();
  expect(parked.add(new Patient(1))).toBeUndefined();
  parked.take(first);
  expect(parked.add(new Patient(60))).toBeDefined();
});

test('what it holds is counted as it was when it came, though it holds something else when it leaves', () => {
  const parked = parking({ mostBytes: 100 });
  for (let time = 0; time < 20; time++) {
    const growing = { bytes: 90, expire: () => undefined };
    const state = (parked as unknown as Parked<Waiting>).add(growing)!;
    expect(state, `time ${time}`).toBeDefined();
    growing.bytes = time % 2 === 0 ? 10 : 190;
    parked.take(state);
  }
});

test('who does not come back in time is expired, the oldest first, and nobody twice', async () => {
  const parked = parking({ ageMs: 30 });
  const order: string[] = [];
  const waiting = ['a', 'b', 'c'].map((name) => {
    const patient = new Patient();
    void patient.expired.then(() => order.push(name));
    return patient;
  });
  const states = waiting.map((patient) => parked.add(patient)!);
  expect(parked.take(states[1]!)).toBe(waiting[1]);
  await Promise.all([waiting[0]!.expired, waiting[2]!.expired]);
  expect(order).toEqual(['a', 'c']);
  expect(parked.size).toBe(0);
  expect(parked.take(states[0]!)).toBeUndefined();
  expect(waiting.map(({ expirations }) => expirations)).toEqual([1, 0, 1]);
});

test('one that comes later waits as long as any other', async () => {
  const parked = parking({ ageMs: 100 });
  const early = new Patient();
  parked.add(early);
  await early.expired;
  const late = new Patient();
  const since = performance.now();
  parked.add(late);
  await late.expired;
  expect(performance.now() - since).toBeGreaterThan(95);
});

test('at the end all are expired, and each once', () => {
  const parked = parking();
  const waiting = [new Patient(), new Patient()];
  for (const patient of waiting) parked.add(patient);
  parked.close();
  parked.close();
  expect(waiting.map(({ expirations }) => expirations)).toEqual([1, 1]);
  expect(parked.size).toBe(0);
});

test('one that is expired and parks another meanwhile does not keep the rest from their end', async () => {
  const parked = parking({ ageMs: 20 });
  const last = new Patient();
  const again: Waiting = { bytes: 1, expire: () => void parked.add(last) };
  (parked as unknown as Parked<Waiting>).add(again);
  const other = new Patient();
  parked.add(other);
  await Promise.all([other.expired, last.expired]);
  expect(parked.size).toBe(0);
});

test('what grows while it waits counts with all it holds, and is refused more than there is room for', () => {
  const parked = parking({ mostBytes: 10 });
  const state = parked.add(new Patient(4))!;
  expect(parked.grow(state, 5)).toBe(true);
  expect(parked.grow(state, 2)).toBe(false);
  expect(parked.add(new Patient(2))).toBeUndefined();
  parked.take(state);
  expect(parked.grow(state, 1)).toBe(false);
  expect(parked.add(new Patient(10))).toBeDefined();
});
