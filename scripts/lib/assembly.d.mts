import type { Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin } from 'vitest/config';

export declare const assemblyForEsbuild: EsbuildPlugin;
export declare const assemblyForVite: Plugin;
