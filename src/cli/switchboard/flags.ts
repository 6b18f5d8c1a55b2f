import type { Flag } from '../kit/arguments.ts';

/** Flags that every command takes, before or after its name. */
export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: 'config',
    short: 'c',
    value: 'FILE',
    summary: 'read only this configuration file (default: $DEFAULT)',
  },
  {
    name: 'log-level',
    value: 'LEVEL',
    summary: 'debug, info, warn, error or silent; also SWITCHBOARD_LOG_LEVEL',
  },
  {
    name: 'log-time',
    summary: 'begin log lines with the time even in a terminal (elsewhere, they always begin with it)',
  },
  {
    name: 'allow-project',
    summary: "use this project's files without asking; also SWITCHBOARD_ALLOW_PROJECT=1",
  },
  { name: 'json', summary: 'print JSON' },
  { name: 'help', short: 'h', summary: 'show this help' },
];

/** Flags that need no command. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  ...COMMON_FLAGS,
  {
    name: 'dry-run',
    runs: 'dry-run',
    summary: 'start every server once and show what a host would see',
  },
  { name: 'stdio', summary: 'serve on stdin and stdout even when stdin is a terminal' },
  {
    name: 'http',
    value: '[HOST:]PORT',
    optional: true,
    forHttp: true,
    summary: 'serve clients over Streamable HTTP and SSE (default 127.0.0.1:3006)',
  },
  { name: 'sse', value: '[HOST:]PORT', optional: true, forHttp: true, summary: 'the same as --http' },
  {
    name: 'log-format',
    value: 'FORMAT',
    summary: 'format of the log: text, or json with one object per line',
  },
  { name: 'allow-remote', forHttp: true, summary: 'with --http: accept connections from other machines' },
  { name: 'show-token', forHttp: true, summary: 'with --http: print the token that clients need' },
  { name: 'version', short: 'v', summary: 'print the version' },
];
