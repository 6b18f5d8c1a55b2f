import { checkoutTool, createTool, downTool, uncheckoutTool, upTool } from './changing.ts';
import { briefTool, doctorTool, listTool, logsTool, statusTool, whereTool } from './looking.ts';
import type { YardTool } from './tool.ts';

/** In the order of the list. */
export const TOOLS: readonly YardTool[] = [
  doctorTool,
  statusTool,
  createTool,
  listTool,
  briefTool,
  whereTool,
  logsTool,
  upTool,
  checkoutTool,
  uncheckoutTool,
  downTool,
];
