/** Groups the calls of a conversation into bursts: in between, the user reads or the model thinks. */
import type { CallInfo } from '../../../protocol.ts';

export interface TimedCall {
  readonly call: CallInfo;
  /** Where its bar begins and ends within its burst, from 0 to 1. */
  readonly from: number;
  readonly to: number;
  /** The pause before it, if that was long. */
  readonly pause: number | null;
  /** The duration of its whole burst. */
  readonly burstMs: number;
}

const PAUSE_MS = 5_000;

/** `all` is in the order in which the calls began. */
export function timedCalls(all: readonly CallInfo[], now: number): readonly TimedCall[] {
  const bursts: { calls: CallInfo[]; start: number; end: number; pause: number | null }[] = [];
  for (const call of [...all].sort((a, b) => a.at - b.at)) {
    const end = call.at + (call.ms ?? Math.max(0, now - call.at));
    const burst = bursts.at(-1);
    if (burst !== undefined && call.at - burst.end < PAUSE_MS) {
      burst.calls.push(call);
      burst.end = Math.max(burst.end, end);
    } else {
      const pause = burst === undefined ? null : call.at - burst.end;
      bursts.push({ calls: [call], start: call.at, end, pause });
    }
  }
  return bursts.flatMap(({ calls, start, end, pause }) =>
    calls.map((call, index) => {
      const burstMs = Math.max(1, end - start);
      const until = call.at + (call.ms ?? Math.max(0, now - call.at));
      return {
        call,
        from: (call.at - start) / burstMs,
        to: Math.min(1, (until - start) / burstMs),
        pause: index === 0 ? pause : null,
        burstMs,
      };
    }),
  );
}
