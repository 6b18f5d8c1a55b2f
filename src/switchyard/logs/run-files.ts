/** How many earlier runs of a service keep their log. */
export const KEPT_RUNS = 3;

/** The log of the run that many before the current one: `web.log`, `web.1.log`, `web.2.log` … */
export function runFile(file: string, run: number): string {
  return run === 0 ? file : marked(file, String(run));
}

/** Where the beginning of a run goes when its log has become too long. */
export function earlierPart(file: string): string {
  return marked(file, 'earlier');
}

/** All that is kept of one run, the newest part first. */
export function partsOf(file: string): readonly string[] {
  return [file, earlierPart(file)];
}

/** Slugs hold no dot, so that no service's log is called like another one's earlier run. */
function marked(file: string, mark: string): string {
  return file.endsWith('.log') ? `${file.slice(0, -'.log'.length)}.${mark}.log` : `${file}.${mark}`;
}
