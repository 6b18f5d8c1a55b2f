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
  { ignores: ['src/wire/assembly', 'dist', 'node_modules', 'coverage', '**/*.generated.*'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Index reads on Buffers in the scanner are proven in range by the loop around them.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      eqeqeq: 'error',
    },
  },
  {
    // Switched on folder by folder.
    files: ['src/{app,config,exposure,gateway,hosts,language,management,process,protocol,shared}/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.cases.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/max-params': ['error', { max: 4 }],
    },
  },
  {
    files: ['**/*.test.ts', '**/*.cases.ts', 'test/**/*.ts'],
    rules: {
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
