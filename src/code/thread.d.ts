/** The text of the script that scripts/lib/thread.mjs bundles from the file of this name and everything it imports. */
declare module '*.thread' {
  const source: string;
  export default source;
}
