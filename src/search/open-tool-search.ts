import type { ToolSearchOptions } from './lazy-tool-search.ts';
import { LearnedFile, learnedFile } from './learned-file.ts';
import { ToolSearch } from './tool-search.ts';

/** Everything a search needs, in one chunk. */
export function openToolSearch({ stateDirectory, log }: ToolSearchOptions): ToolSearch {
  return new ToolSearch(
    stateDirectory === undefined ? undefined : new LearnedFile(learnedFile(stateDirectory), log),
  );
}
