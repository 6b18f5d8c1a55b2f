import { expect, test } from 'vitest';
import { PendingInputs, type InputCarrier } from './pending-inputs.ts';
import { serverMessage } from './modern.cases.ts';

/** A request that notes what it is to bring. */
class Errand implements InputCarrier {
  mayRequireInput = true;
  connected = true;
  brought = 0;

  deliver(): void {
    this.brought++;
  }
}

interface Asked {
  readonly id: number;
  readonly outcomes: unknown[];
}

function ask(desk: PendingInputs, meant: InputCarrier): Asked {
  const outcomes: unknown[] = [];
  const id = desk.ask(
    serverMessage({ id: 'q', method: 'roots/list' }),
    {
      answered: (answer) => void outcomes.push(JSON.parse(answer.toString()).result),
      unanswered: (reason) => void outcomes.push(reason),
    },
    meant,
  );
  return { id, outcomes };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the request that was meant brings it, though others are there', () => {
  const [meant, other] = [new Errand(), new Errand()];
  const desk = new PendingInputs(() => [other, meant]);
  ask(desk, meant);
  expect([meant.brought, other.brought]).toEqual([1, 0]);
  expect(desk.for(meant).map(({ key }) => key)).toEqual(['question_1']);
  expect(desk.for(other)).toEqual([]);
});

test('one that is there brings it rather than one that is away; of those, the latest', () => {
  const [meant, away, early, late] = [new Errand(), new Errand(), new Errand(), new Errand()];
  meant.connected = away.connected = false;
  const desk = new PendingInputs(() => [away, late, early, meant]);
  ask(desk, meant);
  expect([meant.brought, away.brought, early.brought, late.brought]).toEqual([0, 0, 0, 1]);
});

test('where all are away it lies with the one that was meant', () => {
  const [meant, other] = [new Errand(), new Errand()];
  meant.connected = other.connected = false;
  const desk = new PendingInputs(() => [other, meant]);
  ask(desk, meant);
  expect([meant.brought, other.brought]).toEqual([1, 0]);
});

test('one that may not ask is passed over, and where none may, nobody answers', async () => {
  const [meant, other] = [new Errand(), new Errand()];
  meant.mayRequireInput = false;
  const desk = new PendingInputs(() => [meant, other]);
  ask(desk, meant);
  expect([meant.brought, other.brought]).toEqual([0, 1]);
  other.mayRequireInput = false;
  const { outcomes } = ask(desk, meant);
  expect(outcomes).toEqual([]);
  await nextTurn();
  expect(outcomes).toEqual(['closed']);
});

test('what one was to bring is brought by another when it is over, and by nobody when there is none', () => {
  const [first, second] = [new Errand(), new Errand()];
  const desk = new PendingInputs(() => [first, second]);
  const { outcomes } = ask(desk, first);
  first.mayRequireInput = false;
  desk.leave(first);
  expect(second.brought).toBe(1);
  expect(desk.for(second)).toHaveLength(1);
  second.mayRequireInput = false;
  desk.leave(second);
  expect(outcomes).toEqual(['closed']);
  desk.leave(second);
  expect(outcomes).toEqual(['closed']);
});

test('each is answered by its key, once; what is withdrawn is not', () => {
  const carrier = new Errand();
  const desk = new PendingInputs(() => [carrier]);
  const [one, two, three] = [ask(desk, carrier), ask(desk, carrier), ask(desk, carrier)];
  desk.withdraw(two.id);
  const answers = new Map([
    ['question_1', '{"a":1}'],
    ['question_2', '{"a":2}'],
  ]);
  desk.answered(carrier, answers);
  desk.answered(carrier, answers);
  expect([one, two, three].map(({ outcomes }) => outcomes)).toEqual([[{ a: 1 }], [], []]);
  expect(desk.for(carrier).map(({ key }) => key)).toEqual(['question_3']);
});

test('answers from one carrier are not taken for the questions of another', () => {
  const [one, two] = [new Errand(), new Errand()];
  const desk = new PendingInputs(() => [one, two]);
  const { outcomes } = ask(desk, one);
  desk.answered(two, new Map([['question_1', '{}']]));
  expect(outcomes).toEqual([]);
});

test('where the first answer ends the call, the other question is refused and not answered as well', () => {
  const carrier = new Errand();
  const desk = new PendingInputs(() => [carrier]);
  desk.ask(
    serverMessage({ id: 'q', method: 'roots/list' }),
    {
      answered: () => {
        carrier.mayRequireInput = false;
        desk.leave(carrier);
      },
      unanswered: () => undefined,
    },
    carrier,
  );
  const { outcomes } = ask(desk, carrier);
  desk.answered(
    carrier,
    new Map([
      ['question_1', '{}'],
      ['question_2', '{}'],
    ]),
  );
  expect(outcomes).toEqual(['closed']);
});
