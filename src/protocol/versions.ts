/** The versions that start with an `initialize` handshake, oldest first. */
export const LEGACY_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
export type LegacyVersion = (typeof LEGACY_VERSIONS)[number];

export const LATEST_LEGACY_VERSION: LegacyVersion = '2025-11-25';

export function isLegacyVersion(version: unknown): version is LegacyVersion {
  return LEGACY_VERSIONS.includes(version as LegacyVersion);
}

/** These versions' error code for a resource that does not exist; the modern era uses "invalid params". */
export const RESOURCE_NOT_FOUND = -32002;

/** The only version in which several messages may be sent as one JSON array. */
export const BATCHING_VERSION: LegacyVersion = '2025-03-26';
