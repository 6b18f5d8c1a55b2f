import { expect, test } from 'vitest';
import type { CatalogEntry, SourceInfo } from '../../gateway/index.ts';
import { recordingSource, SAMPLE_TOOLS } from '../exposure.cases.ts';
import { suiteDescription, type DescriptionSettings } from './description.ts';
import { suite } from './suite.ts';

function entryOf(said?: Partial<SourceInfo>): CatalogEntry {
  const listed = recordingSource('files', SAMPLE_TOOLS);
  const about = { protocolVersion: '2025-11-25', serverInfo: {}, capabilities: {}, instructions: undefined };
  const source = {
    ...listed,
    about: () => (said === undefined ? undefined : { ...about, ...said }),
    remembered: () => (said === undefined ? undefined : listed.known('tools')),
  };
  return {
    source,
    rules: { allows: (tool) => tool !== 'write', overrides: new Map([['read', { exposed: 'load' }]]) },
    offers: new Set(['tools']),
    exposure: suite({
      ...NOTHING,
      name: undefined,
      summaryMaxChars: 1,
      instructionsMaxChars: 1,
      introspection: 'full',
    }),
    naming: 'prefixed',
  };
}

const NOTHING: DescriptionSettings = { description: undefined, purpose: undefined };
const ACTIONS = "Actions: 'introspect' | 'call'.";
const said = { instructions: 'Keeps all the files.' };

function nobodyAsks(): string {
  throw new Error('The library is not needed.');
}

test('the most specific words there are describe a suite, and the library is asked last', () => {
  const known = nobodyAsks;
  expect(suiteDescription({ description: 'All of it.', purpose: 'files', known }, entryOf(said))).toBe(
    'All of it.',
  );
  expect(suiteDescription({ description: ' ', purpose: 'files.', known }, entryOf(said))).toBe(
    `Use this tool for files. ${ACTIONS}`,
  );
  expect(suiteDescription({ ...NOTHING, known }, entryOf(said))).toBe(
    'files: "Keeps all the files." Subtools: load.',
  );
  expect(suiteDescription({ ...NOTHING, known: () => 'storing files' }, entryOf())).toBe(
    `Use this tool for storing files. ${ACTIONS}`,
  );
  expect(suiteDescription(NOTHING, entryOf())).toBe(`Use this tool for files. ${ACTIONS}`);
});

test('an invitation follows, unless the words contain it already', () => {
  const invitation = { text: 'Call natural_language.', unless: 'natural_language' };
  const described = (more: Partial<DescriptionSettings>, about?: Partial<SourceInfo>) =>
    suiteDescription({ ...NOTHING, invitation, ...more }, entryOf(about));
  expect(described({ purpose: 'files' })).toBe('Use this tool for files. Call natural_language.');
  expect(described({}, said)).toBe('files: "Keeps all the files." Call natural_language.');
  expect(described({}, { serverInfo: { title: 'Switchboard' } })).toBe(
    'Use this tool for files. Call natural_language.',
  );
  expect(described({ description: 'Use natural_language.' })).toBe('Use natural_language.');
});
