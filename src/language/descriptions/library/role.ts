/** The role of a model: one sentence, then hints. */
export function role(task: string, ...points: readonly string[]): string {
  return `${task}\n\n${points.map((point) => `- ${point}`).join('\n')}`;
}
