import { filterTools, type CatalogEntry } from '../../gateway/index.ts';
import { learnedDescription } from './learned-description.ts';

export interface DescriptionSettings {
  /** The tool's complete description, if one was configured. */
  readonly description: string | undefined;
  /** The purpose of the server, according to its definition. */
  readonly purpose: string | undefined;
  /** Returns what servers of this kind are for; called only if nothing better is known. Default: unknown. */
  readonly known?: (() => string | undefined) | undefined;
  /** Explains how the suite is used if not by introspection; left out if the text already contains `unless`. */
  readonly invitation?: { readonly text: string; readonly unless: string } | undefined;
}

/**
 * The text about a suite that the model reads in every conversation. Uses the first of these that is available: the
 * configured text, the `description` of its server, the server's own description from its last run, what is known about
 * its package, its name.
 */
export function suiteDescription(settings: DescriptionSettings, entry: CatalogEntry): string {
  const { description, invitation } = settings;
  const written = isBlank(description) ? undefined : description;
  if (invitation === undefined)
    return written ?? withoutWritten(settings, entry, " Actions: 'introspect' | 'call'.");
  const about = written ?? withoutWritten(settings, entry, '');
  return about.includes(invitation.unless) ? about : `${about} ${invitation.text}`;
}

function withoutWritten(settings: DescriptionSettings, entry: CatalogEntry, actions: string): string {
  const { purpose, known, invitation } = settings;
  const { source } = entry;
  if (!isBlank(purpose)) return usedFor(purpose) + actions;
  const listing = source.remembered('tools');
  const said = learnedDescription({
    name: source.name,
    about: source.about(),
    // If a language model takes requests in natural language, title and tools may be the model's and say nothing about
    // the server.
    bySentence: invitation !== undefined,
    subtools: listing === undefined ? [] : filterTools(listing, entry.rules).tools.map((tool) => tool.name),
    known: () => sentence(known?.()),
  });
  return said ?? (sentence(known?.()) ?? usedFor(source.name)) + actions;
}

function isBlank(text: string | undefined): text is undefined {
  return text === undefined || text.trim() === '';
}

function sentence(purpose: string | undefined): string | undefined {
  return purpose === undefined ? undefined : usedFor(purpose);
}

function usedFor(purpose: string): string {
  return `Use this tool for ${purpose.trim().replace(/\.+$/, '')}.`;
}
