/** What a model is told of its role: a sentence, and what is good to know. */
export function role(task: string, ...points: readonly string[]): string {
  return `${task}\n\n${points.map((point) => `- ${point}`).join('\n')}`;
}
