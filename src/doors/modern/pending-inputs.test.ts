import { expect, test } from 'vitest';
import { PendingInputs, type InputCarrier } from './pending-inputs.ts';
import { serverMessage } from './modern.cases.ts';

/** A request that records what it is to deliver. */
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

function ask(inputs: PendingInputs, meant: InputCarrier): Asked {
  const outcomes: unknown[] = [];
  const id = inputs.ask(
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
  const inputs = new PendingInputs(() => [other, meant]);
  ask(inputs, meant);
  expect([meant.brought, other.brought]).toEqual([1, 0]);
  expect(inputs.for(meant).map(({ key }) => key)).toEqual(['question_1']);
  expect(inputs.for(other)).toEqual([]);
});

test('one that is there brings it rather than one that is away; of those, the latest', () => {
  const [meant, away, early, late] = [new Errand(), new Errand(), new Errand(), new Errand()];
  meant.connected = away.connected = false;
  const inputs = new PendingInputs(() => [away, late, early, meant]);
  ask(inputs, meant);
  expect([meant.brought, away.brought, early.brought, late.brought]).toEqual([0, 0, 0, 1]);
});

test('where all are away it lies with the one that was meant', () => {
  const [meant, other] = [new Errand(), new Errand()];
  meant.connected = other.connected = false;
  const inputs = new PendingInputs(() => [other, meant]);
  ask(inputs, meant);
  expect([meant.brought, other.brought]).toEqual([1, 0]);
});

test('one that may not ask is passed over, and where none may, nobody answers', async () => {
  const [meant, other] = [new Errand(), new Errand()];
  meant.mayRequireInput = false;
  const inputs = new PendingInputs(() => [meant, other]);
  ask(inputs, meant);
  expect([meant.brought, other.brought]).toEqual([0, 1]);
  other.mayRequireInput = false;
  const { outcomes } = ask(inputs, meant);
  expect(outcomes).toEqual([]);
  await nextTurn();
  expect(outcomes).toEqual(['closed']);
});

test('what one was to bring is brought by another when it is over, and by nobody when there is none', () => {
  const [first, second] = [new Errand(), new Errand()];
  const inputs = new PendingInputs(() => [first, second]);
  const { outcomes } = ask(inputs, first);
  first.mayRequireInput = false;
  inputs.leave(first);
  expect(second.brought).toBe(1);
  expect(inputs.for(second)).toHaveLength(1);
  second.mayRequireInput = false;
  inputs.leave(second);
  expect(outcomes).toEqual(['closed']);
  inputs.leave(second);
  expect(outcomes).toEqual(['closed']);
});

test('each input request is answered once, by its key, unless it was withdrawn', () => {
  const carrier = new Errand();
  const inputs = new PendingInputs(() => [carrier]);
  const [one, two, three] = [ask(inputs, carrier), ask(inputs, carrier), ask(inputs, carrier)];
  inputs.withdraw(two.id);
  const answers = new Map([
    ['question_1', '{"a":1}'],
    ['question_2', '{"a":2}'],
  ]);
  inputs.answered(carrier, answers);
  inputs.answered(carrier, answers);
  expect([one, two, three].map(({ outcomes }) => outcomes)).toEqual([[{ a: 1 }], [], []]);
  expect(inputs.for(carrier).map(({ key }) => key)).toEqual(['question_3']);
});

test('answers from one carrier are not taken for the questions of another', () => {
  const [one, two] = [new Errand(), new Errand()];
  const inputs = new PendingInputs(() => [one, two]);
  const { outcomes } = ask(inputs, one);
  inputs.answered(two, new Map([['question_1', '{}']]));
  expect(outcomes).toEqual([]);
});

test('where the first answer ends the call, the other question is refused and not answered as well', () => {
  const carrier = new Errand();
  const inputs = new PendingInputs(() => [carrier]);
  inputs.ask(
    serverMessage({ id: 'q', method: 'roots/list' }),
    {
      answered: () => {
        carrier.mayRequireInput = false;
        inputs.leave(carrier);
      },
      unanswered: () => undefined,
    },
    carrier,
  );
  const { outcomes } = ask(inputs, carrier);
  inputs.answered(
    carrier,
    new Map([
      ['question_1', '{}'],
      ['question_2', '{}'],
    ]),
  );
  expect(outcomes).toEqual(['closed']);
});
