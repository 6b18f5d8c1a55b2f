import { checkoutTool, createTool, downTool, uncheckoutTool, upTool } from './write-tools.ts';
import { briefTool, doctorTool, listTool, logsTool, statusTool, whereTool } from './read-tools.ts';
import type { YardTool } from './tool.ts';

/** In the order of the list. */
export const YARD_TOOLS: readonly YardTool[] = [
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
