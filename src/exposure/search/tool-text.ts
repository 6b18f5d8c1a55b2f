import type { CatalogEntry, OfferedTool } from '../../gateway/index.ts';
import { identifiers, serverIdentifiers } from '../../shared/identifiers.ts';
import { printableLine } from '../../shared/printable.ts';
import { signature } from '../suite/signature.ts';
import { summarise } from '../suite/summarise.ts';
import { knownTools } from './searched.ts';

/** `server.tool`, as used by `call_tool`. */
export function toolPath(server: string, tool: string): string {
  return printableLine(`${server}.${tool}`);
}

/** A tool as a TypeScript function: `github.get_issue({owner:string, repo:string})`. */
export function toolSignature(server: string, { name, component }: OfferedTool, maxChars?: number): string {
  const input = signature(component.value.inputSchema, maxChars);
  return `${toolPath(server, name)}(${input === '{}' ? '' : input})`;
}

/** How tools are written in answers. */
export interface ToolWriting {
  path(server: string, tool: string): string;
  signature(server: string, tool: OfferedTool, maxChars?: number): string;
}

/** Writes tools with their own names. */
export const PLAIN_WRITING: ToolWriting = { path: toolPath, signature: toolSignature };

/**
 * Writes the tools of most servers with their own names. Tools that scripts can call are written the way scripts call
 * them, with their result types if known: `memory.open_nodes({names:string[]}): {entities:{name:string}[]}`.
 */
export function toolWriting(entries: readonly CatalogEntry[]): ToolWriting {
  const scripted = entries.filter(({ exposure }) => exposure.isScripted === true);
  const globals = serverIdentifiers(scripted.map(({ source }) => source.name));
  const members = new Map<string, ReadonlyMap<string, string>>();
  const path = (server: string, tool: string): string => {
    const global = globals.get(server);
    if (global === undefined) return toolPath(server, tool);
    let names = members.get(server);
    if (names === undefined) {
      const entry = scripted.find(({ source }) => source.name === server);
      names = identifiers(entry === undefined ? [] : [...(knownTools(entry)?.byName.keys() ?? [])]);
      members.set(server, names);
    }
    return `${global}.${names.get(tool) ?? tool}`;
  };
  return {
    path,
    signature: (server, tool, maxChars) => {
      if (!globals.has(server)) return toolSignature(server, tool, maxChars);
      const { inputSchema, outputSchema } = tool.component.value;
      const input = signature(inputSchema, maxChars);
      const output = outputSchema === undefined ? '' : `: ${signature(outputSchema, maxChars)}`;
      return `${path(server, tool.name)}(${input === '{}' ? '' : input})${output}`;
    },
  };
}

/** What a tool does, in at most this many characters. */
export function toolSummary({ component }: OfferedTool, maxChars: number): string {
  const { description, title } = component.value;
  const text = typeof description === 'string' && description.trim() !== '' ? description : title;
  return summarise(typeof text === 'string' ? text : '', maxChars);
}
