import type { Component } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { signature } from './signature.ts';
import { summarise } from './summarise.ts';

/** How much an introspection tells: a summary and the input in one line, everything, or a summary only. */
export type IntrospectionMode = 'summary' | 'full' | 'redacted';

/** The result of an introspection: the tools as structured content, and the same as text for clients that read only that. */
export function introspection(
  tools: readonly Component[],
  mode: IntrospectionMode,
  summaryMaxChars: number,
  note: string | undefined,
): JsonObject {
  const structuredContent = {
    tools: tools.map((tool) => describe(tool, mode, summaryMaxChars)),
    ...(note === undefined ? {} : { note }),
  };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

function describe(tool: Component, mode: IntrospectionMode, summaryMaxChars: number): JsonObject {
  const { value } = tool;
  if (mode === 'full') return value;
  const described =
    typeof value.description === 'string' && value.description.trim() !== ''
      ? value.description
      : value.title;
  const summary = summarise(typeof described === 'string' ? described : '', summaryMaxChars);
  if (mode === 'redacted') return { name: tool.key, summary };
  return { name: tool.key, summary, input: signature(value.inputSchema) };
}
