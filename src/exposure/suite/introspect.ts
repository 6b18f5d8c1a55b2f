import type { Component } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { signature } from './signature.ts';
import { summarise } from './summarise.ts';

/** How much an introspection returns: a summary and the input in one line, everything, or a summary only. */
export type IntrospectionMode = 'summary' | 'full' | 'redacted';

export interface Introspected {
  readonly tools: readonly Component[];
  readonly mode: IntrospectionMode;
  readonly summaryMaxChars: number;
  /** What the server says on how to use its tools, where these are all of them. */
  readonly instructions?: string | undefined;
  /** Why these are not all of them, where they should be. */
  readonly note?: string | undefined;
  /** Whether to end with how to ask for more or less than this. Default false. */
  readonly offersMore?: boolean;
}

/** The result of an introspection: the tools as structured content, and the same as text for clients that read only that. */
export function introspection(introspected: Introspected): JsonObject {
  const { tools, mode, summaryMaxChars, instructions, note, offersMore = false } = introspected;
  const structuredContent = {
    ...(instructions === undefined ? {} : { instructions }),
    tools: tools.map((tool) => describe(tool, mode, summaryMaxChars)),
    ...(note === undefined ? {} : { note }),
    ...(offersMore ? { more: MORE } : {}),
  };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

const MORE = 'introspect also takes "subtool" (one in full) and "verbosity" ("summary", "full", "redacted")';

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
