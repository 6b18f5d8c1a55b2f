import type { OfferedTool } from '../gateway/index.ts';
import { isObject } from '../shared/is-object.ts';
import { stemsOf, termsOf, type Term } from './terms.ts';

/** The fields of a tool in the index; each holds normalized words, separated by spaces. */
export interface ToolFields {
  readonly name: string;
  readonly server: string;
  /** The title and the first sentence of the description. */
  readonly summary: string;
  /** The rest of the description, and the parameters. */
  readonly detail: string;
}

export const FIELDS = ['name', 'server', 'summary', 'detail'] as const;

/** How many words of each field are read: anything beyond is about something else, or there to attract searches. */
const MOST = { name: 12, server: 12, summary: 40, detail: 80, parameters: 60 };
const MOST_CHARS = 1500;

export function toolFields({ component }: OfferedTool, server: string): ToolFields {
  const { value, key } = component;
  const description = textOf(value.description).slice(0, MOST_CHARS);
  const end = endOfSummary(description);
  const annotations = isObject(value.annotations) ? value.annotations : {};
  const title = textOf(value.title) || textOf(annotations.title);
  return {
    name: fieldText(termsOf(key.slice(0, 200), MOST.name)),
    server: fieldText(termsOf(server, MOST.server)),
    summary: fieldText(termsOf(`${title.slice(0, 200)} ${description.slice(0, end)}`, MOST.summary)),
    // Other meanings of these words would take more space than they are worth.
    detail: [
      ...stemsOf(description.slice(end), MOST.detail),
      ...stemsOf(parameterTexts(value.inputSchema), MOST.parameters),
    ].join(' '),
  };
}

function fieldText(terms: readonly Term[]): string {
  return [...new Set(terms.flatMap(({ stem, meanings }) => [stem, ...meanings]))].join(' ');
}

function endOfSummary(description: string): number {
  const end = /[.!?:](?=\s)|\n/.exec(description.slice(0, 300));
  return end === null ? Math.min(description.length, 300) : end.index + 1;
}

/** The names of the parameters, their allowed values and their descriptions. */
function parameterTexts(schema: unknown): string {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const texts: string[] = [];
  for (const [name, property] of Object.entries(properties).slice(0, 40)) {
    texts.push(name.slice(0, 60));
    if (!isObject(property)) continue;
    texts.push(textOf(property.description).slice(0, 80));
    if (Array.isArray(property.enum))
      texts.push(property.enum.slice(0, 10).map(textOf).join(' ').slice(0, 100));
  }
  return texts.join(' ; ').slice(0, MOST_CHARS);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
