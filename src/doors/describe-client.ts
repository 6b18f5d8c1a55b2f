import { isObject } from '../shared/is-object.ts';
import type { ClientDescription } from '../gateway/index.ts';

/** What a client says about itself: its `clientInfo`, which may be any value, and the protocol version it speaks. */
export function describeClient(info: unknown, protocolVersion: string | undefined): ClientDescription {
  const { name, version } = isObject(info) ? info : {};
  return { name: short(name), version: short(version), protocolVersion };
}

function short(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_CHARS) : undefined;
}

const MAX_CHARS = 200;
