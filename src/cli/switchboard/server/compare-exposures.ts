import type { App } from '../../../app/index.ts';
import type { ServerDefinition } from '../../../config/index.ts';
import { estimateTokens } from '../../../shared/tokens.ts';
import { right, table } from '../../kit/table.ts';
import { tokensText } from '../../kit/text.ts';
import type { Style } from '../../kit/style.ts';
import type { ProbedServer } from './probe-servers.ts';
import { costWhenFlat, listedCost, openedCost, type AnsweredServer } from './token-cost.ts';

const COMPARED = ['flat', 'suite', 'search', 'code'] as const;
export type Compared = (typeof COMPARED)[number];

/** About how many tokens one exposure of all servers costs. */
export interface ExposureCost {
  readonly exposure: Compared;
  /** The tokens at the start of every conversation. */
  readonly start: number;
  /** The same plus what a model reads to find the tools of two servers. */
  readonly task: number;
}

/** All exposures and the recommended one. */
export interface ExposureComparison {
  readonly recommended: Compared;
  readonly costs: readonly ExposureCost[];
}

/** A task uses tools of this many servers. */
const SERVERS_OF_A_TASK = 2;
/** The length of find_tool's result, in tokens: the median over real servers (`npm run bench -- --only search`). */
const FOUND = 120;
/** Suites describe what each server does, which no search can. That is worth up to this many tokens. */
const SUITES_ARE_WORTH = 2000;

/** Compares the costs of all exposures of the servers; undefined if none has answered with tools. */
export function compareExposures(app: App, probed: readonly ProbedServer[]): ExposureComparison | undefined {
  const answered = probed.filter(
    (each): each is AnsweredServer =>
      each.kind === 'answered' && each.behind === undefined && each.tools.length > 0,
  );
  if (answered.length === 0) return undefined;
  const servers: ServerDefinition[] = answered.map(({ server }) => server);
  const start = (exposure: Compared): number => {
    if (exposure === 'flat') return sum(answered.map(costWhenFlat));
    const { definitions, instructions } = app.exposedAs(exposure, servers);
    return listedCost(definitions.map((definition) => ({ definition }))) + estimateTokens(instructions);
  };
  const opened = answered.map(openedCost);
  const used = Math.min(SERVERS_OF_A_TASK, answered.length);
  const more: Record<Compared, number> = {
    flat: 0,
    suite: Math.round((sum(opened) / answered.length) * used),
    search: FOUND * used,
    code: FOUND * used,
  };
  const costs = COMPARED.map((exposure): ExposureCost => {
    const tokens = start(exposure);
    return { exposure, start: tokens, task: tokens + more[exposure] };
  });
  return { recommended: recommend(costs), costs };
}

/**
 * The recommended exposure for these costs. Whether a model should write code depends on its tasks, which are unknown
 * here.
 */
export function recommend(costs: readonly ExposureCost[]): Compared {
  const of = (exposure: Compared): ExposureCost =>
    costs.find((each) => each.exposure === exposure) as ExposureCost;
  if (of('flat').task <= of('suite').task) return 'flat';
  return of('suite').start <= SUITES_ARE_WORTH ? 'suite' : 'search';
}

export function comparisonText({ recommended, costs }: ExposureComparison, style: Style): string {
  const rows = costs.map(({ exposure, start, task }) => [
    exposure === recommended ? `${exposure}  ← recommended` : exposure,
    tokensText(start),
    tokensText(task),
  ]);
  const head = ['ALL SERVERS AS', right('START'), right('TASK')];
  const code = recommended === 'flat' ? '' : `${CODE}\n`;
  return `${table(head, rows, style.bold, style.columns)}${REASONS[recommended]}\n${code}`;
}

const REASONS: Record<Compared, string> = {
  flat: 'With so few tools, exposing them all costs no more than suites: "exposure": "flat".',
  suite: 'Suites describe each server and cost little: "exposure": "suite" (the default).',
  search: 'With so many servers, suites cost more than they are worth: "exposure": "search".',
  code: '',
};
const CODE =
  'If tasks make many calls, or need little of large results, choose "exposure": "code": START and TASK do not count results.';

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
