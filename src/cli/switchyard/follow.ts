import { followServices, type LogsOptions, type YardContext } from '../../switchyard/index.ts';
import { printable, printableLine } from '../../shared/printable.ts';
import { createStyle } from '../style.ts';
import { pad } from '../table.ts';

/** Prints what services write, as they write it, until nobody reads it any more. Ctrl-C ends the program as usual. */
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
      // Who reads slowly is not sent more than can be kept.
      return new Promise<void>((resolve) => void stdout.write(text, () => resolve()));
    },
  });
}
