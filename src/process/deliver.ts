/** What became of a signal. */
export type Delivery = 'sent' | 'gone' | 'refused';

/** Sends a signal to a pid that was just verified. */
export function deliver(pid: number, signal: NodeJS.Signals): Delivery {
  try {
    process.kill(pid, signal);
    return 'sent';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'refused';
  }
}
