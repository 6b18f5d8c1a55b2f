import type { Component } from '../../gateway/index.ts';
import { inLaterTurn, Turns } from '../../shared/turns.ts';
import { MAX_PARSED } from '../../wire/index.ts';
import { signature } from './signature.ts';
import { summarise } from './summarise.ts';

/** How much an introspection returns: a summary and the input in one line, everything, or a summary only. */
export type IntrospectionMode = 'summary' | 'full' | 'redacted';

export interface Introspected {
  /** As `describeTool` shows each. */
  readonly tools: readonly string[];
  /** What the server says on how to use its tools, where these are all of them. */
  readonly instructions?: string | undefined;
  /** Why these are not all of them, where they should be. */
  readonly note?: string | undefined;
  /** Whether to end with how to ask for more or less than this. Default false. */
  readonly offersMore?: boolean;
}

/** What an introspection returns, as JSON text. */
export function introspection({ tools, instructions, note, offersMore = false }: Introspected): string {
  const members = [
    ...(instructions === undefined ? [] : [`"instructions":${JSON.stringify(instructions)}`]),
    `"tools":[${tools.join(',')}]`,
    ...(note === undefined ? [] : [`"note":${JSON.stringify(note)}`]),
    ...(offersMore ? [`"more":${JSON.stringify(MORE)}`] : []),
  ];
  return `{${members.join(',')}}`;
}

/**
 * The same as the result of a call: as structured content, and as text for clients that read only that. A very long one is
 * text only, and sent in another turn.
 */
export async function introspectionResult(introspected: Introspected): Promise<string> {
  const structured = introspection(introspected);
  const content = `"content":[{"type":"text","text":${JSON.stringify(structured)}}]`;
  if (structured.length <= MAX_PARSED) return `{${content},"structuredContent":${structured}}`;
  await new Promise<void>(inLaterTurn);
  return `{${content}}`;
}

const MORE = 'introspect also takes "subtool" (one in full) and "verbosity" ("summary", "full", "redacted")';

/** Tools as `describeTool` shows each, with turns for everything else in between: there may be very many. */
export async function describeTools(
  tools: readonly Component[],
  mode: IntrospectionMode,
  summaryMaxChars: number,
): Promise<string[]> {
  const turns = new Turns();
  const described: string[] = [];
  for (const tool of tools) {
    described.push(describeTool(tool, mode, summaryMaxChars));
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  return described;
}

/** A tool as an introspection shows it, as JSON text. */
export function describeTool(tool: Component, mode: IntrospectionMode, summaryMaxChars: number): string {
  if (mode === 'full') return tool.text;
  const { value } = tool;
  const described =
    typeof value.description === 'string' && value.description.trim() !== ''
      ? value.description
      : value.title;
  const summary = summarise(typeof described === 'string' ? described : '', summaryMaxChars);
  if (mode === 'redacted') return JSON.stringify({ name: tool.key, summary });
  return JSON.stringify({ name: tool.key, summary, input: signature(value.inputSchema) });
}
