/** Where it is noted how the last run of a service ended: beside its log. */
export function exitFileOf(logFile: string): string {
  return `${logFile.replace(/\.log$/, '')}.exit`;
}
