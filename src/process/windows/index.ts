export { endTree } from './end-tree.ts';
export { createWindowsTrees } from './trees.ts';
export { windowsCommand } from './windows-command.ts';
