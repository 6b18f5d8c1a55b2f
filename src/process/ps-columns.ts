/**
 * The options of `ps` for columns without headers, one for each: according to POSIX, everything after the `=` is the
 * header, and for `-o pid=,ppid=` macOS prints `,ppid=` above a single column.
 */
export function psColumns(...names: readonly string[]): string[] {
  return names.flatMap((name) => ['-o', `${name}=`]);
}
