/**
 * The options of `ps` for columns without headers. One for each: by POSIX, everything behind the `=` is the header, and
 * macOS prints `,ppid=` above a single column for `-o pid=,ppid=`.
 */
export function psColumns(...names: readonly string[]): string[] {
  return names.flatMap((name) => ['-o', `${name}=`]);
}
