import { transform } from 'sucrase';

/** TypeScript as JavaScript with the same lines. What cannot be read stays as it is, for the interpreter to report. */
export function stripTypes(code: string): string {
  try {
    return transform(code, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true })
      .code;
  } catch {
    return code;
  }
}
