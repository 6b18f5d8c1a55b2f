/** Numbers as people read them. Unknown values are shown as an em dash. */
const UNKNOWN = '—';
const grouped = new Intl.NumberFormat('en');

export const formatCount = (value: number | null): string =>
  value === null ? UNKNOWN : grouped.format(value);

export function formatBytes(value: number | null): string {
  if (value === null) return UNKNOWN;
  if (value < 1_000) return `${value} B`;
  const power = value < 999_500 ? 1 : value < 999_500_000 ? 2 : 3;
  const scaled = value / 1_000 ** power;
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)} ${['', 'kB', 'MB', 'GB'][power] ?? ''}`;
}

export function formatMs(value: number | null): string {
  if (value === null) return UNKNOWN;
  if (value < 999.5) return `${value < 9.95 && value > 0 ? value.toFixed(1) : Math.round(value)} ms`;
  return value < 59_950 ? `${(value / 1_000).toFixed(value < 9_950 ? 2 : 1)} s` : formatDuration(value);
}

/** A duration, in its two largest units. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? `${hours} h ${String(minutes % 60).padStart(2, '0')} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const two = (value: number): string => String(value).padStart(2, '0');

export function formatTime(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export const formatTimeMs = (at: number): string =>
  `${formatTime(at)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`;

export const formatDate = (at: number): string => {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${formatTime(at)}`;
};

/** The end of a path, which is enough to tell files apart. */
export const pathEnd = (path: string, parts = 2): string => {
  const all = path.split(/[/\\]/).filter((part) => part !== '');
  return all.length <= parts ? path : `${parts > 1 ? '…/' : ''}${all.slice(-parts).join('/')}`;
};

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Whether it is safe as a link: other schemes may run code in this page. */
export const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url);
