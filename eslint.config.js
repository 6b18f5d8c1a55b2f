import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const nodeGlobals = Object.fromEntries(
  [
    'process',
    'Buffer',
    'console',
    'setTimeout',
    'clearTimeout',
    'setImmediate',
    'setInterval',
    'clearInterval',
    'queueMicrotask',
    'performance',
    'URL',
    'AbortController',
    'AbortSignal',
    'TextDecoder',
    'TextEncoder',
    'structuredClone',
    'fetch',
  ].map((name) => [name, 'readonly']),
);

export default tseslint.config(
  // assembly/ is AssemblyScript: its types are not those of TypeScript, and it has no objects to pass options in.
  { ignores: ['src/wire/assembly', 'dist', 'node_modules', 'coverage', '**/*.generated.*'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/max-params': ['error', { max: 4 }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      eqeqeq: 'error',
    },
  },
  {
    // Index reads on Buffers in the scanner are proven in range by the loop around them.
    files: ['src/wire/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['**/*.test.ts', '**/*.cases.ts', 'test/**/*.ts'],
    rules: {
      // What a test expects to be there fails it otherwise.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Tables of cases and property tests pass each value as a parameter of its own.
      '@typescript-eslint/max-params': 'off',
      // What comes over the wire in a test is looked at, not typed.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: { globals: { ...nodeGlobals, module: 'writable', require: 'readonly' } },
  },
);
