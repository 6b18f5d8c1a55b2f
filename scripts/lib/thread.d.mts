import type { Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin } from 'vitest/config';

export declare const threadsForEsbuild: EsbuildPlugin;
export declare const threadsForVite: Plugin;
