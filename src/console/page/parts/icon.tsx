import type { ComponentChildren } from 'preact';

/** Paths on a 16-pixel grid. */
const PATHS = {
  servers: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  calls: 'M2 4h8M2 8h12M2 12h6M12 2l2 2-2 2',
  try: 'M4 2.5l9 5.5-9 5.5z',
  model: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  logs: 'M2.5 3h11v10h-11zM5 6h6M5 8.5h6M5 11h3',
  hosts: 'M2 3h12v8H2zM6 13.5h4',
  switchyard: 'M4 2v12M4 11c0-4 8-2 8-6M12 5V2M4 2h.01M12 2h.01',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3 3',
  close: 'M4 4l8 8M12 4l-8 8',
  start: 'M5 3.5l7 4.5-7 4.5z',
  stop: 'M4.5 4.5h7v7h-7z',
  reload: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5V5h-2.5',
  add: 'M8 3v10M3 8h10',
  remove: 'M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.5 9h6l.5-9',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  help: 'M6 6a2 2 0 1 1 2.6 1.9c-.5.2-.6.6-.6 1.1M8 11.5h.01M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z',
  key: 'M10.5 2.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8.2 7.8L3 13v.5h2V12h1.5v-1.5',
  warn: 'M8 2.5l6 11H2zM8 6.5v3M8 11.5h.01',
  right: 'M6 3.5l4.5 4.5L6 12.5',
  down: 'M3.5 6L8 10.5 12.5 6',
  back: 'M9.5 3.5L5 8l4.5 4.5',
  link: 'M9 3h4v4M13 3L7.5 8.5M11.5 9v4h-8.5v-8.5h4',
  up: 'M3.5 10L8 5.5 12.5 10',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }): ComponentChildren => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
);
