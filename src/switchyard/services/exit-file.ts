/** The file that records how the last run of a service ended, next to its log. */
export function exitFileOf(logFile: string): string {
  return `${logFile.replace(/\.log$/, '')}.exit`;
}
