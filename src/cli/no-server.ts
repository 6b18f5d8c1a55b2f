import { inWordsOf, namesItsConfig, type CliFace } from './face.ts';

/** What there is to say where nothing is configured. */
export function noServer(face: CliFace): string {
  if (namesItsConfig(face)) return `No server is configured. ${face.servers ?? ''}`.trimEnd() + '\n';
  return inWordsOf(
    face,
    'No server is configured. `$0 add NAME -- COMMAND` adds one; `$0 doctor` says where they are looked for.\n',
  );
}
