import { expect } from 'vitest';

/** One value of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(?:,|$)/y;

/** Reads the text format as strictly as Prometheus and promtool do: every violation is an error. */
export function readMetrics(text: string): Sample[] {
  expect(text.endsWith('\n')).toBe(true);
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const samples: Sample[] = [];
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      expect(name).toMatch(NAME);
      expect(types.has(name), `${name} is explained twice`).toBe(false);
      expect(rest).not.toContain('\\');
      family = name;
    } else if (kind === 'TYPE') {
      expect(name).toBe(family);
      expect(['counter', 'gauge', 'histogram']).toContain(rest);
      if (rest === 'counter') expect(name).toMatch(/_total$/);
      types.set(name, rest);
    } else {
      const [, own = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? [];
      expect(own, line).toMatch(NAME);
      const base = types.get(family) === 'histogram' ? own.replace(/_(bucket|sum|count)$/, '') : own;
      expect(base, `${line} is not below its TYPE`).toBe(family);
      const labels = readLabels(labelText);
      const key = JSON.stringify([own, Object.entries(labels).sort()]);
      expect(seen.has(key), `${line} is there twice`).toBe(false);
      seen.add(key);
      expect(Number.isFinite(Number(value)), line).toBe(true);
      samples.push({ name: own, labels, value: Number(value) });
    }
  }
  for (const [name, type] of types) if (type === 'histogram') checkBuckets(name, samples);
  return samples;
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    expect(name, `labels ${text}`).not.toBe('');
    expect(labels[name]).toBeUndefined();
    labels[name] = value.replace(/\\(.)/g, (_all, char: string) => (char === 'n' ? '\n' : char));
  }
  return labels;
}

/** Buckets are cumulative, and the last one is infinite and contains all values. */
function checkBuckets(name: string, samples: readonly Sample[]): void {
  const own = ({ le, ...others }: Readonly<Record<string, string>>): string =>
    JSON.stringify([others, le === '']);
  for (const count of samples.filter((sample) => sample.name === `${name}_count`)) {
    const buckets = samples.filter(
      (sample) => sample.name === `${name}_bucket` && own(sample.labels) === own(count.labels),
    );
    const bounds = buckets.map(({ labels }) => Number((labels.le ?? '').replace('+Inf', 'Infinity')));
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
    expect(bounds.at(-1)).toBe(Infinity);
    const counts = buckets.map(({ value }) => value);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(count.value);
  }
}

/** The sum of all values of a metric whose labels include these. */
export function sumOf(samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number {
  return samples
    .filter(
      (each) =>
        each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
