import type { ToolSearchOptions } from './lazy-tool-search.ts';
import { LearnedFile, learnedFile } from './learned-file.ts';
import { ToolSearch } from './tool-search.ts';

/** What a search needs, loaded as one. */
export function openToolSearch({ stateDirectory, log }: ToolSearchOptions): ToolSearch {
  return new ToolSearch(
    stateDirectory === undefined ? undefined : new LearnedFile(learnedFile(stateDirectory), log),
  );
}
