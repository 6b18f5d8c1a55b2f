import { printableLine } from '../shared/printable.ts';
import { inWordsOf, namesItsConfig, type CliFace } from './face.ts';

/** What there is to say where nothing is configured. */
export function noServer(face: CliFace, skipped: readonly string[] = []): string {
  if (skipped.length > 0) {
    const names = skipped.map((name) => JSON.stringify(printableLine(name))).join(', ');
    return inWordsOf(
      face,
      `No server can be used: ${names} cannot, see the warnings. \`$0 doctor\` says more.\n`,
    );
  }
  if (namesItsConfig(face)) return `No server is configured. ${face.servers ?? ''}`.trimEnd() + '\n';
  return inWordsOf(
    face,
    'No server is configured. `$0 add NAME -- COMMAND` (or `--url URL`) adds one; `$0 doctor` says where they are looked for.\n',
  );
}
