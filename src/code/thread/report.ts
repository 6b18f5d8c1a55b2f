import type { ScriptOutcome } from '../messages.ts';
import type { ThrownError } from './prelude.ts';
import { withinTokens } from './within-tokens.ts';

/** What the gateway knows about a script that has ended. */
export interface ScriptRecord {
  readonly code: string;
  readonly logged: readonly string[];
  /** How many calls succeeded, by tool. */
  readonly succeeded: ReadonlyMap<string, number>;
  /** Errors of calls that the script did not wait for. */
  readonly notes: readonly string[];
  readonly calls: number;
  readonly cpuMs: number;
  readonly maxTokens: number;
}

/** What a script returned, as JSON text or undefined, and what it logged. */
export function reportValue(json: string | undefined, record: ScriptRecord): ScriptOutcome {
  const { logged, notes, maxTokens } = record;
  const value = json === undefined ? '' : asText(json);
  const log = logged.join('\n');
  const parts = [
    value,
    value === '' ? log : section('Logged:', log),
    ...notes,
    value === '' && log === '' ? 'The script returned nothing and logged nothing. Return a value.' : '',
  ];
  return outcome(true, withinTokens(joined(parts), maxTokens), record);
}

/** Why a script failed: the line, what it had logged by then, and the calls that have already taken effect. */
export function reportFailure(error: ThrownError, record: ScriptRecord): ScriptOutcome {
  const { code, logged, succeeded, maxTokens } = record;
  const line = lineIn(error.stack);
  const source = line === undefined ? undefined : code.split('\n')[line - 1]?.trim();
  const place = line === undefined ? '' : `Line ${line}: `;
  const what =
    error.tool === undefined ? `${error.name}: ${error.message}` : `${error.tool} failed: ${error.message}`;
  const done = [...succeeded].map(([tool, count]) => (count === 1 ? tool : `${tool} (${count} times)`));
  const parts = [
    withinTokens(place + what, maxTokens),
    source === undefined || source === '' ? '' : `  ${line} | ${source.slice(0, LONGEST_LINE)}`,
    done.length === 0 ? '' : `Calls that had succeeded: ${done.join(', ')}.`,
    withinTokens(section('Logged:', logged.join('\n')), maxTokens),
  ];
  return outcome(false, joined(parts, '\n'), record);
}

const LONGEST_LINE = 200;

/** The name of the script in a stack. */
export const SCRIPT = 'script.ts';

const IN_SCRIPT = /\bscript\.ts:(\d+)/;

/** The line of the script at the top of a stack, counted from 1. */
function lineIn(stack: string): number | undefined {
  const found = IN_SCRIPT.exec(stack)?.[1];
  return found === undefined ? undefined : Number(found);
}

function outcome(ok: boolean, text: string, { calls, cpuMs }: ScriptRecord): ScriptOutcome {
  return { ok, text, calls, cpuMs };
}

/** A string as it is, anything else as JSON. */
function asText(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

function section(title: string, text: string): string {
  return text === '' ? '' : `${title}\n${text}`;
}

function joined(parts: readonly string[], between = '\n\n'): string {
  return parts.filter((part) => part !== '').join(between);
}
