import { nodeErrorCode } from '../shared/node-error-code.ts';

/** The result of sending a signal. `later`: it is not known yet which other processes would have to get it. */
export type SignalResult = 'sent' | 'gone' | 'refused' | 'later';

/** Sends a signal to a pid that was just verified. */
export function sendSignal(pid: number, signal: NodeJS.Signals): SignalResult {
  try {
    process.kill(pid, signal);
    return 'sent';
  } catch (error) {
    return nodeErrorCode(error) === 'ESRCH' ? 'gone' : 'refused';
  }
}
