import { existsSync } from 'node:fs';
import { SwitchboardError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { slug } from '../../records/names.ts';
import { resolveBranch } from '../../records/project/branch.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import { envSecretMask } from '../../records/project/env-secrets.ts';
import { insideLogs, logFileOf } from '../../records/state/home.ts';
import { KEPT_RUNS, partsOf, runFile } from '../../runtime/logs/run-files.ts';
import { lastThatFit, shareOut, sizeOf } from './fit-lines.ts';
import { followLogs } from './follow.ts';
import { readLog, type LogQuery } from './read.ts';
import { parseSince } from './since.ts';

export interface LogsOptions extends Pick<LogQuery, 'fixed' | 'maxBytes'> {
  /** Default: all services of the branch. */
  readonly service?: string | undefined;
  /** Default: the branch of the worktree, otherwise the one that git has checked out. */
  readonly branch?: string | undefined;
  /** Maximum lines per log, counted from the end. Default 80. */
  readonly lines?: number | undefined;
  /** A regular expression, or plain text if it is not a valid one. Without capitals it ignores case. */
  readonly grep?: string | undefined;
  /** A duration such as `10m`, or an ISO time. */
  readonly since?: string | undefined;
  /** How many runs ago, 0 to 3. Default 0, the current or last one. */
  readonly run?: number | undefined;
  /** Whether to show secrets of env files, for a person. Default false. */
  readonly secrets?: boolean | undefined;
}

export interface ServiceLog {
  readonly service: string;
  readonly branch: string;
  readonly log_file: string;
  readonly lines: readonly string[];
  /** Whether more lines match than are returned. */
  readonly truncated: boolean;
  /** Set if `since` could not be applied because no line has a timestamp. */
  readonly undated?: true;
}

export interface LogsResult {
  /** Number of lines requested. */
  readonly lines: number;
  readonly logs: readonly ServiceLog[];
}

/** What an agent can read without losing focus, in bytes. */
export const AGENT_BYTES = 8192;

/** The output of the services of a branch. */
export async function logs(context: YardContext, options: LogsOptions): Promise<LogsResult> {
  const { lines = 80, grep, fixed, maxBytes = Infinity } = options;
  check(options);
  const since = options.since === undefined ? undefined : parseSince(options.since);
  const mask = maskFor(context, options);
  const answers: ServiceLog[] = [];
  for (const { service, branch, file, began } of await chosen(context, options)) {
    const { undated, ...answer } = await readLog(file, { lines, grep, fixed, since, began, maxBytes, mask });
    answers.push({ service, branch, log_file: file, ...answer, ...(undated ? { undated } : {}) });
  }
  return { lines, logs: cutTo(answers, maxBytes) };
}

export interface FollowLogsOptions extends Omit<LogsOptions, 'maxBytes' | 'run'> {
  readonly signal: AbortSignal;
  /** Nothing more is read until it resolves. */
  readonly onLines: (
    from: { readonly service: string; readonly branch: string },
    lines: readonly string[],
  ) => void | Promise<void>;
  /** Called once before any lines, with the services of the logs. */
  readonly onStart?: (services: readonly string[]) => void;
}

/** Returns the logs like `logs`, then reports new output until aborted. */
export async function followServices(context: YardContext, options: FollowLogsOptions): Promise<void> {
  const { lines = 80, grep, fixed, signal, onLines, onStart } = options;
  check(options);
  const since = options.since === undefined ? undefined : parseSince(options.since);
  const sources = new Map((await chosen(context, options)).map((source) => [source.file, source]));
  onStart?.([...sources.values()].map(({ service }) => service));
  await followLogs({
    files: [...sources.keys()],
    lines,
    since,
    grep,
    fixed,
    mask: maskFor(context, options),
    signal,
    onLines: (file, added) => {
      const source = sources.get(file);
      return source === undefined ? undefined : onLines(source, added);
    },
  });
}

function maskFor(context: YardContext, { secrets = false }: LogsOptions): LogQuery['mask'] {
  return secrets ? undefined : envSecretMask(context);
}

function check({ lines = 80, maxBytes = 1, run = 0 }: LogsOptions): void {
  const wrong =
    !Number.isInteger(lines) || lines < 1
      ? '--lines must be at least 1'
      : !(maxBytes >= 1)
        ? '--max-bytes must be at least 1'
        : !Number.isInteger(run) || run < 0 || run > KEPT_RUNS
          ? `--run must be between 0 and ${KEPT_RUNS}`
          : undefined;
  if (wrong !== undefined) throw new SwitchboardError('USAGE', wrong);
}

interface Source {
  readonly service: string;
  readonly branch: string;
  readonly file: string;
  readonly began: number | undefined;
}

/** The requested logs, in the order of the configuration. */
async function chosen(
  context: YardContext,
  { service, branch: wanted, run = 0 }: LogsOptions,
): Promise<readonly Source[]> {
  const branch = wanted ?? (await resolveBranch(context)).branch;
  const sources = known(context, branch)
    .filter((source) => service === undefined || source.service === slug(service))
    .map((source) => (run === 0 ? source : { ...source, file: runFile(source.file, run), began: undefined }))
    // While a long log is moved aside, there is only its earlier part.
    .filter(({ file }) => partsOf(confined(context, file)).some((part) => existsSync(part)));
  if (sources.length > 0) return sources;
  throw new SwitchboardError('NO_LOGS', 'No matching logs.', {
    hint: await nextStep(context, branch, service, run),
  });
}

async function nextStep(
  context: YardContext,
  branch: string,
  service: string | undefined,
  run: number,
): Promise<string> {
  const { unknownNames } = await import('../../records/project/unknown-names.ts');
  const unknown = await unknownNames(context, { branch, services: service === undefined ? [] : [service] });
  if (unknown.length > 0) return unknown.join(' ');
  if (run > 0) return 'That run does not exist.';
  const words = [shellWord(branch), ...(service === undefined ? [] : [slug(service)])];
  return `Start it first: \`switchyard up ${words.join(' ')}\`.`;
}

/** The services that have a record, or may have left a log before it was dropped, with their log files. */
function known(context: YardContext, branch: string): readonly Source[] {
  const { config, home } = context;
  const records = recordedServices(context).filter((record) => record.branch_slug === slug(branch));
  const names = new Set([
    ...config.services.map(({ name }) => name),
    ...records.map((record) => record.service),
  ]);
  return [...names].map((service) => {
    const record = records.find((each) => each.service === service);
    if (record === undefined) {
      return { service, branch, file: logFileOf(home, config, branch, `${service}.log`), began: undefined };
    }
    return { service, branch: record.branch, file: record.log_file, began: timeOf(record.started_at) };
  });
}

/** The record comes from a file: a path that was changed there must not make us read other files. */
function confined(context: YardContext, file: string): string {
  if (insideLogs(context.home, file)) return file;
  throw new SwitchboardError(
    'LOG_OUTSIDE',
    `The log is outside the log directory of Switchyard, so it is not read: ${file}.`,
    {
      hint: `The state in ${context.home.stateFile} was changed by hand; stop the service and start it again.`,
    },
  );
}

function timeOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Fits the logs into their total size. */
function cutTo(answers: readonly ServiceLog[], maxBytes: number): readonly ServiceLog[] {
  const needs = answers.map(({ lines }) => lines.reduce((sum, line) => sum + sizeOf(line), 0));
  const shares = shareOut(needs, maxBytes);
  return answers.map((answer, index) => {
    const share = shares[index] ?? 0;
    if ((needs[index] ?? 0) <= share) return answer;
    return { ...answer, lines: lastThatFit(answer.lines, share), truncated: true };
  });
}
