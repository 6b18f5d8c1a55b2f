import { followServices, type LogsOptions, type YardContext } from '../../switchyard/index.ts';
import { printable, printableLine } from '../../shared/printable.ts';
import { createStyle } from '../style.ts';
import { pad } from '../table.ts';

/** Prints the output of services as they write it, until stdout is closed. Ctrl-C ends the program as usual. */
export async function follow(yard: YardContext, options: LogsOptions): Promise<void> {
  const ended = new AbortController();
  const { stdout } = process;
  stdout.on('error', () => ended.abort());
  const style = createStyle(stdout, yard.env);
  let prefix: (service: string) => string = () => '';
  await followServices(yard, {
    ...options,
    signal: ended.signal,
    onStart: (services) => {
      const widest = Math.max(...services.map((service) => service.length));
      if (services.length > 1) prefix = (service) => `${style.dim(`${pad(service, widest)} |`)} `;
    },
    onLines: ({ service }, lines) => {
      const before = prefix(printableLine(service));
      const text = lines.map((line) => `${before}${printable(line)}\n`).join('');
      // Waits for slow readers, so that output does not pile up in memory.
      return new Promise<void>((resolve) => void stdout.write(text, () => resolve()));
    },
  });
}
