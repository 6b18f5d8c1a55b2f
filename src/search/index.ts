export { clearLearned, learnedFile } from './learned-file.ts';
export { LazyToolSearch, type FoundNeed, type FoundTool, type ToolFinder } from './lazy-tool-search.ts';
