declare const __VERSION__: string;

/** The version of the package, inserted by the build. */
export const VERSION: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source';
