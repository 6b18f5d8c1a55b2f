import { scopeBranch, status, type YardContext } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { statusLines } from './status-view.ts';
import { watch } from './watch.ts';

/** Shows the services repeatedly, with the last error of each below. Returns the exit code. */
export function watchStatus(yard: YardContext, branch: string | undefined): Promise<number> {
  const scope = scopeBranch(yard, branch) ?? 'all branches';
  return watch({
    env: yard.env,
    look: async (style) => {
      const found = await status(yard, { branch });
      const errors = found.services.flatMap(({ service, branch: of, recent_errors: lines }) =>
        lines.slice(-1).map((line) => `${service} (${of}): ${line}`),
      );
      const now = new Date().toTimeString().slice(0, 8);
      const title = `${yard.config.name}, ${scope}, ${now}; q quits`;
      return [
        style.dim(printableLine(title)),
        ...statusLines(found, style),
        ...(errors.length === 0 ? [] : ['', 'last errors:', ...errors.map(printableLine)]),
      ];
    },
  });
}
