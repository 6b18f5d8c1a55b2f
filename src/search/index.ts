export { clearLearned, learnedFile } from './learned-file.ts';
export { LaterToolSearch, type FoundNeed, type FoundTool, type ToolFinder } from './later-tool-search.ts';
