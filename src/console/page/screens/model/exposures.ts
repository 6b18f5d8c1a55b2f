/** Exposures to compare before one of them is saved. */
import type { Actions, ServerExposure, ServerInfo } from '../../../protocol.ts';

export const EXPOSURE_CHOICES: readonly {
  readonly value: ServerExposure;
  readonly title: string;
  readonly hint: string;
}[] = [
  { value: 'suite', title: 'Suite', hint: 'One tool for the whole server' },
  { value: 'flat', title: 'Flat', hint: 'Each tool under its own name' },
  { value: 'hidden', title: 'Hidden', hint: 'Not exposed' },
];

export type VariantName = 'saved' | 'suite' | 'flat' | 'draft';

export const VARIANT_TITLES: Readonly<Record<VariantName, string>> = {
  saved: 'As configured',
  suite: 'All as suites',
  flat: 'All flat',
  draft: 'Your draft',
};

/** By server name: the exposures that differ from the configuration. */
export type ExposureDraft = Readonly<Record<string, ServerExposure>>;

type ExposureParam = Exclude<Actions['lists.get']['params']['exposure'], undefined>;

export function exposureParam(
  variant: VariantName,
  draft: ExposureDraft,
  servers: readonly ServerInfo[],
): { readonly exposure?: ExposureParam } {
  if (variant === 'saved') return {};
  if (variant !== 'draft') return { exposure: variant };
  return {
    exposure: Object.fromEntries(servers.map(({ name, exposure }) => [name, draft[name] ?? exposure])),
  };
}

/** Only those that differ from the configuration. */
export const changesOf = (draft: ExposureDraft, servers: readonly ServerInfo[]): readonly ServerInfo[] =>
  servers.filter(({ name, exposure }) => draft[name] !== undefined && draft[name] !== exposure);
