import { accessSync, constants, statSync } from 'node:fs';
import type { ServerDefinition } from '../config/index.ts';
import type { ResolvedModel } from '../language/index.ts';
import type { ServerProblem } from './check-server.ts';
import type { Presentation } from './presentation.ts';

/** What is wrong with the language model of a server, as far as it is known without a request. */
export function languageProblems(
  { language }: ServerDefinition,
  presentation: Presentation,
): readonly ServerProblem[] {
  const problems: ServerProblem[] = [];
  if (presentation.language && 'problem' in presentation.language) {
    const { message, hint } = presentation.language.problem;
    problems.push({ message, hint });
  }
  const file = language?.instructionsFile;
  if (file !== undefined && !isReadable(file)) {
    problems.push({
      message: `cannot read the instructions of its model, ${file}`,
      hint: 'Create that file, or correct "instructionsFile".',
    });
  }
  return problems;
}

/** Which model that is, and what it needs. */
export function modelLine(language: ResolvedModel): string {
  if ('problem' in language) return 'none';
  const { provider, model } = language;
  return provider === 'host'
    ? "the client's own: the client must support sampling with tools"
    : `${model} (${provider})`;
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
