import { sorted } from '../../records/state/write.ts';

/** JSON for a reader: two spaces, sorted keys, as the command line prints it. */
export function sortedText(data: object): string {
  return JSON.stringify(sorted(data), undefined, 2);
}
