import { DEFAULTS } from './defaults.ts';
import type { ConfigInput, ConfigOutput } from './schema/config.ts';
import type { Settings } from './settings.ts';

type OAuthOutput = NonNullable<ConfigOutput['http']['oauth']>;
type RolesOutput = NonNullable<ConfigOutput['roles']>;

/** Roles by name, with every default applied. */
export type Roles = NonNullable<Settings['roles']>;

/** Limits on what a client may use. Undefined: no limit. */
export type RoleLimits = NonNullable<Roles[string]['limits']>;

/** The settings of `http.oauth` with every default applied. The client's secret is as written. */
export function resolveOAuth(given: NonNullable<NonNullable<ConfigInput['http']>['oauth']>): OAuthOutput {
  const { introspection, ...rest } = given;
  return {
    ...rest,
    scopes: given.scopes ?? [],
    principalClaim: given.principalClaim ?? DEFAULTS.oauth.principalClaim,
    clockToleranceMs: given.clockToleranceMs ?? DEFAULTS.oauth.clockToleranceMs,
    dpop: given.dpop ?? 'optional',
    ...(introspection === undefined
      ? {}
      : {
          introspection: {
            ...introspection,
            cacheMs: introspection.cacheMs ?? DEFAULTS.oauth.introspectionCacheMs,
          },
        }),
  };
}

/** The roles of HTTP clients, with every default applied. */
export function resolveRoles(given: NonNullable<ConfigInput['roles']>): RolesOutput {
  return Object.fromEntries(
    Object.entries(given).map(([name, role]) => [
      name,
      {
        ...role,
        tools: role.tools ?? ['*'],
        resources: role.resources ?? ['*'],
        prompts: role.prompts ?? ['*'],
        management: role.management ?? false,
      },
    ]),
  );
}
