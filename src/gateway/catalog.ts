import type { Source } from './source.ts';

/** An immutable snapshot of all sources and how each is to be shown. A change builds a new one. */
export interface Catalog {
  /** Counts up with every change. */
  readonly generation: number;
  readonly entries: readonly CatalogEntry[];
}

export interface CatalogEntry {
  readonly source: Source;
  readonly exposure: ExposureSettings;
}

/** How one source is shown, after all configuration is folded together. */
export interface ExposureSettings {
  /** The suite tool's name, where the user chose one. */
  readonly suiteName: string | undefined;
  /** The whole description of the suite tool, where one was written for it. */
  readonly suiteDescription: string | undefined;
  /** What the server is for, to build a description from. */
  readonly purpose: string | undefined;
  /** True for a tool that may be seen and called. */
  readonly admits: (tool: string) => boolean;
  /** Longest summary of a tool, in UTF-16 units. */
  readonly summaryMaxChars: number;
  readonly introspection: IntrospectionMode;
}

export type IntrospectionMode = 'summary' | 'full' | 'redacted';
