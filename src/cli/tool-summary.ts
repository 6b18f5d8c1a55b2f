import { introspection, type Component } from '../app.ts';

/** A tool in two lines. */
export interface ToolSummary {
  readonly name: string;
  readonly summary: string;
  /** The input, condensed to one line. */
  readonly input: string;
}

/** A tool as a model reads it when it opens a suite. */
export function summarizeTool(tool: Component, summaryMaxChars: number): ToolSummary {
  const { structuredContent } = introspection({ tools: [tool], mode: 'summary', summaryMaxChars });
  return (structuredContent as { tools: [ToolSummary] }).tools[0];
}
