import type { YardContext } from '../../records/project/context.ts';
import { sortedText } from '../../records/state/write.ts';
import { brief } from '../brief/brief.ts';
import { GUIDE } from './instructions.ts';
import { diagnosisOf } from './read-tools.ts';
import { dataInToolWords } from './tool-words.ts';

/** A resource to read before choosing a tool. Reading changes nothing. */
export interface YardResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** `open` opens the project, which not every text needs. */
  text(open: () => YardContext): Promise<string>;
}

export const RESOURCES: readonly YardResource[] = [
  {
    uri: 'switchyard://project/brief',
    name: 'project-brief',
    title: 'Brief of the project',
    description:
      'What is configured, what runs and where, checkouts, changed files, missing env files, recent errors.',
    mimeType: 'application/json',
    text: async (open) => sortedText(dataInToolWords(await brief(open()))),
  },
  {
    uri: 'switchyard://project/doctor',
    name: 'project-doctor',
    title: 'Setup of the project',
    description: 'Services, profiles, proxy, missing env files, and problems with the setup.',
    mimeType: 'application/json',
    text: async (open) => sortedText(dataInToolWords(await diagnosisOf(open()))),
  },
  {
    uri: 'switchyard://agent/guide',
    name: 'agent-guide',
    title: 'Guide for agents',
    description: 'How to work with Switchyard, on one page.',
    mimeType: 'text/markdown',
    text: () => Promise.resolve(GUIDE),
  },
];
