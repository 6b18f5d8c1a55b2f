import type { Component } from '../../gateway/index.ts';
import { inLaterTurn, Turns } from '../../shared/turns.ts';
import { MAX_PARSED } from '../../wire/index.ts';
import { signature } from './signature.ts';
import { summarise } from './summarise.ts';

/** How much an introspection returns: a summary and the input on one line, everything, or only a summary. */
export type IntrospectionMode = 'summary' | 'full' | 'redacted';

export interface Introspected {
  /** The tools, each formatted by `describeTool`. */
  readonly tools: readonly string[];
  /** The server's instructions for its tools, if all of its tools are included. */
  readonly instructions?: string | undefined;
  /** Why tools that should be included are missing. */
  readonly note?: string | undefined;
  /** Whether to end with how to request more or less detail. Default false. */
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
 * The same as the result of a call: as structured content, and as text for clients that read only text. A very long one
 * has only text and is sent in a later turn of the event loop.
 */
export async function introspectionResult(introspected: Introspected): Promise<string> {
  const structured = introspection(introspected);
  const content = `"content":[{"type":"text","text":${JSON.stringify(structured)}}]`;
  if (structured.length <= MAX_PARSED) return `{${content},"structuredContent":${structured}}`;
  await new Promise<void>(inLaterTurn);
  return `{${content}}`;
}

const MORE = 'introspect also takes "subtool" (one in full) and "verbosity" ("summary", "full", "redacted")';

/** Formats each tool with `describeTool`, yielding to other work in between, because there may be very many. */
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

/** A tool as shown by an introspection, as JSON text. */
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
