import { MODERN_VERSION } from './modern.ts';

/** How two sides communicate: with a handshake and a session, or with self-contained requests. */
export type Era = 'legacy' | 'modern';

/** Whether a server supports each era; undefined: unknown. */
export type EraSupport = Readonly<Partial<Record<Era, boolean | undefined>>>;

export function otherEra(era: Era): Era {
  return era === 'modern' ? 'legacy' : 'modern';
}

export function eraOfVersion(version: string): Era {
  return version === MODERN_VERSION ? 'modern' : 'legacy';
}
