/** Number of earlier runs whose logs are kept. */
export const KEPT_RUNS = 3;

/** The log of a run, counted back from the current one: `web.log`, `web.1.log`, `web.2.log` … */
export function runFile(file: string, run: number): string {
  return run === 0 ? file : marked(file, String(run));
}

/** The file for the earlier part of a run whose log became too long. */
export function earlierPart(file: string): string {
  return marked(file, 'earlier');
}

/** All files of one run, the newest part first. */
export function partsOf(file: string): readonly string[] {
  return [file, earlierPart(file)];
}

/** Slugs contain no dot, so the log of one service never has the name of another one's earlier run. */
function marked(file: string, mark: string): string {
  return file.endsWith('.log') ? `${file.slice(0, -'.log'.length)}.${mark}.log` : `${file}.${mark}`;
}
