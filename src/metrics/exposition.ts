/**
 * Metrics in the Prometheus text format, version 0.0.4. We need three types and one output format, which takes fewer
 * lines than wrapping a library.
 */
export class Exposition {
  readonly #families: Family[] = [];

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.#add(new Counter({ name, help, labels, type: 'counter' }));
  }

  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram {
    return this.#add(new Histogram({ name, help, labels, type: 'histogram' }, buckets));
  }

  /** `read` is called at every scrape and reports each current value. */
  gauge(name: string, help: string, labels: readonly string[], read: GaugeReader): void {
    this.#add(new Gauge({ name, help, labels, type: 'gauge' }, read));
  }

  text(): string {
    return this.#families
      .map((family) => {
        const { name, help, type } = family.about;
        return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${family.lines().join('')}`;
      })
      .join('');
  }

  #add<F extends Family>(family: F): F {
    this.#families.push(family);
    return family;
  }
}

export type GaugeReader = (set: (value: number, ...labels: readonly string[]) => void) => void;

interface FamilyAbout {
  readonly name: string;
  /** One line, without backslashes. */
  readonly help: string;
  readonly labels: readonly string[];
  readonly type: 'counter' | 'gauge' | 'histogram';
}

interface Family {
  readonly about: FamilyAbout;
  lines(): string[];
}

/** Counts events, by the values of its labels. */
class Counter implements Family {
  readonly about: FamilyAbout;
  readonly #series = new Map<string, { readonly labels: readonly string[]; value: number }>();

  constructor(about: FamilyAbout) {
    this.about = about;
  }

  add(amount: number, ...labels: readonly string[]): void {
    const key = labels.join('\0');
    const series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, { labels, value: amount });
    else series.value += amount;
  }

  lines(): string[] {
    const { name } = this.about;
    return [...this.#series.values()].map(({ labels, value }) =>
      line(name, labelText(this.about.labels, labels), value),
    );
  }
}

/** Has the values that are reported at the time of a scrape. */
class Gauge implements Family {
  readonly about: FamilyAbout;
  readonly #read: GaugeReader;

  constructor(about: FamilyAbout, read: GaugeReader) {
    this.about = about;
    this.#read = read;
  }

  lines(): string[] {
    const lines: string[] = [];
    const { name, labels } = this.about;
    this.#read((value, ...values) => lines.push(line(name, labelText(labels, values), value)));
    return lines;
  }
}

interface Observed {
  readonly labels: readonly string[];
  /** How many values are in each bucket but in none of the smaller ones. */
  readonly counts: number[];
  sum: number;
}

/** Counts values by size. */
class Histogram implements Family {
  readonly about: FamilyAbout;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Observed>();

  constructor(about: FamilyAbout, bounds: readonly number[]) {
    this.about = about;
    this.#bounds = bounds;
  }

  observe(value: number, ...labels: readonly string[]): void {
    const key = labels.join('\0');
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels, counts: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0 };
      this.#series.set(key, series);
    }
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found < 0 ? this.#bounds.length : found;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  lines(): string[] {
    const { name } = this.about;
    return [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      const text = labelText(this.about.labels, labels);
      let count = 0;
      const buckets = [...this.#bounds.map(String), '+Inf'].map((bound, index) => {
        count += counts[index] ?? 0;
        return line(`${name}_bucket`, [...text, `le="${bound}"`], count);
      });
      return [...buckets, line(`${name}_sum`, text, sum), line(`${name}_count`, text, count)];
    });
  }
}

function line(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${value}\n`;
}

function labelText(names: readonly string[], values: readonly string[]): string[] {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`);
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
