import { loadCrypto } from '../shared/load-crypto.ts';
import { sha256 } from '../shared/sha256.ts';
import type { Store } from './store.ts';

/** The limits for a principal; undefined means no limit. */
interface CallLimits {
  readonly callsPerMinute?: number | undefined;
  readonly concurrentCalls?: number | undefined;
}

/** Why a call may not begin: too many are running, or it has to wait this many milliseconds. */
export type CallRefusal = 'running' | { readonly waitMs: number };

const WINDOW_MS = 60_000;
/** The running calls of a gateway stop counting if it does not confirm them for this long, in milliseconds. */
const ALIVE_MS = 5000;
const CONFIRM_MS = 1000;

/**
 * Begins a call if the limits allow it. KEYS: the calls of the last minutes, the running calls. ARGV: calls per minute,
 * concurrent calls (each empty for no limit), this gateway, its running calls including this one, ALIVE_MS, WINDOW_MS.
 */
const BEGIN = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[2] ~= '' then
  local running = tonumber(ARGV[4])
  local all = redis.call('HGETALL', KEYS[2])
  for at = 1, #all, 2 do
    local count, until_ = string.match(all[at + 1], '(%d+) (%d+)')
    if tonumber(until_) < now then redis.call('HDEL', KEYS[2], all[at])
    elseif all[at] ~= ARGV[3] then running = running + tonumber(count) end
  end
  if running > tonumber(ARGV[2]) then return {1, 0} end
end
if ARGV[1] ~= '' then
  local window = tonumber(ARGV[6])
  local known = redis.call('HMGET', KEYS[1], 'since', 'calls', 'before')
  local since, calls, before = tonumber(known[1] or now), tonumber(known[2] or 0), tonumber(known[3] or 0)
  local passed = math.floor((now - since) / window)
  if passed > 0 then
    before = passed == 1 and calls or 0
    calls = 0
    since = since + passed * window
  end
  local room = tonumber(ARGV[1]) - 1 - calls
  local wait = 0
  if room < 0 then wait = since + window - now
  elseif before > room then wait = since + window * (1 - room / before) - now end
  if wait > 0 then return {2, math.ceil(wait)} end
  redis.call('HSET', KEYS[1], 'since', since, 'calls', calls + 1, 'before', before)
  redis.call('PEXPIRE', KEYS[1], 2 * window)
end
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[3], ARGV[4] .. ' ' .. (now + ARGV[5]))
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return {0, 0}`;

/**
 * Reports how many calls of each principal run on this gateway. ARGV: this gateway, ALIVE_MS, a number for each key.
 */
const CONFIRM = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at, key in ipairs(KEYS) do
  local count = ARGV[at + 2]
  if count == '0' then redis.call('HDEL', key, ARGV[1])
  else
    redis.call('HSET', key, ARGV[1], count .. ' ' .. (now + ARGV[2]))
    redis.call('PEXPIRE', key, ARGV[2])
  end
end`;

/**
 * Counts the calls of principals on all gateways that share a store. Each gateway reports its running calls repeatedly,
 * so that the calls of a killed gateway soon stop counting, and a store that has lost its data gets them again.
 */
export class SharedCallCounts {
  readonly #self = loadCrypto().randomBytes(9).toString('base64url');
  readonly #store: Store;
  /** The running calls of this gateway, by principal. */
  readonly #running = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Counts a call, unless a limit is reached; returns which one. `running` is the number of calls of the principal on
   * this gateway, including this one. Rejects with STORE_AWAY.
   */
  async begin(
    principal: string,
    running: number,
    { callsPerMinute, concurrentCalls }: CallLimits,
  ): Promise<CallRefusal | undefined> {
    const id = sha256(principal);
    if (concurrentCalls !== undefined) this.#note(id, running);
    const [kind, waitMs] = (await this.#store.script(BEGIN, {
      keys: [`calls:${id}`, runningKey(id)],
      args: [callsPerMinute ?? '', concurrentCalls ?? '', this.#self, running, ALIVE_MS, WINDOW_MS],
    })) as [number, number];
    if (kind === 0) return undefined;
    return kind === 1 ? 'running' : { waitMs };
  }

  /** Sets how many calls of a principal are running on this gateway. */
  set(principal: string, running: number): void {
    const id = sha256(principal);
    if (!this.#running.has(id)) return;
    this.#note(id, running);
    this.#confirm([id]);
    if (running === 0) this.#running.delete(id);
  }

  #note(id: string, running: number): void {
    this.#running.set(id, running);
    this.#timer ??= setInterval(() => this.#confirmAll(), CONFIRM_MS).unref();
  }

  #confirmAll(): void {
    if (this.#running.size > 0) {
      this.#confirm([...this.#running.keys()]);
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #confirm(ids: readonly string[]): void {
    const counts = ids.map((id) => this.#running.get(id) ?? 0);
    this.#store
      .script(CONFIRM, { keys: ids.map(runningKey), args: [this.#self, ALIVE_MS, ...counts] })
      // They are reported again soon, or have expired by then.
      .catch(() => undefined);
  }
}

function runningKey(id: string): string {
  return `running:${id}`;
}
