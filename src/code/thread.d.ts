/** The file of this name and all it imports, bundled by scripts/lib/thread.mjs, as the text of a script. */
declare module '*.thread' {
  const source: string;
  export default source;
}
