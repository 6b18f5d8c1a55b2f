import { transform } from 'sucrase';

/**
 * Turns TypeScript into JavaScript with the same lines. Code that cannot be parsed is returned unchanged, so that the
 * interpreter reports the error.
 */
export function stripTypes(code: string): string {
  try {
    return transform(code, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true })
      .code;
  } catch {
    return code;
  }
}
