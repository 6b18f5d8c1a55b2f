import { filterTools, type CatalogEntry } from '../../gateway/index.ts';
import { learnedDescription } from './learned-description.ts';

export interface DescriptionSettings {
  /** The tool's whole description, where one was written. */
  readonly description: string | undefined;
  /** What the server is for, as its definition says it. */
  readonly purpose: string | undefined;
  /** What servers of this kind are for; called only where nothing better is known. Default: unknown. */
  readonly known?: (() => string | undefined) | undefined;
  /** Says how the suite is used, where that is not by looking inside; not added to a text that contains `unless`. */
  readonly invitation?: { readonly text: string; readonly unless: string } | undefined;
}

/**
 * What the model reads of a suite in every conversation. The first of these that says anything: the text written for it,
 * the `description` of its server, the server's own description from its last run, what is known of its package, its name.
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
    // Where a model takes plain words, title and tools may be its own, and say nothing of the server.
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
