/** A program that serves a front end and takes its port as a flag. */
export interface DevTool {
  /** Its display name. */
  readonly name: string;
  readonly programs: readonly string[];
  /** Subcommands that serve. An empty string: it serves without one. */
  readonly verbs: readonly string[];
  readonly flags: string;
  /** Its default port. */
  readonly port: number;
  /** Whether a second `--port` is rejected or ignored instead of overriding the first. Default false. */
  readonly oncePort?: boolean;
  /** Differences of older releases of a package. Default none. */
  readonly older?: {
    readonly package: string;
    /** The first major release that takes `flags`, and the flags for earlier ones. */
    readonly flagsSince: number;
    readonly flags: string;
    /** The first release that accepts names below localhost; earlier ones reject them. */
    readonly namesSince: readonly [number, number];
  };
}

/**
 * Makes the page open its WebSocket at its own address. The default is --host and --port, where its Origin is rejected.
 */
const WEBPACK = {
  name: 'webpack-dev-server',
  flags: '--port {port} --host {host} --client-web-socket-url auto://0.0.0.0:0/ws',
  port: 8080,
  older: {
    package: 'webpack-dev-server',
    flagsSince: 4,
    flags: '--port {port} --host {host} --public {url}',
    namesSince: [4, 11],
  },
} as const;

const VITE_FLAGS = '--port {port} --strictPort --host {host}';

const DEV_TOOLS: readonly DevTool[] = [
  { name: 'Vite', programs: ['vite'], verbs: ['', 'dev', 'serve', 'preview'], flags: VITE_FLAGS, port: 5173 },
  { name: 'React Router', programs: ['react-router'], verbs: ['dev'], flags: VITE_FLAGS, port: 5173 },
  {
    name: 'Next.js',
    programs: ['next'],
    verbs: ['', 'dev', 'start'],
    flags: '-p {port} -H {host}',
    port: 3000,
  },
  {
    name: 'Astro',
    programs: ['astro'],
    verbs: ['dev', 'preview'],
    flags: '--port {port} --host {host}',
    port: 4321,
    oncePort: true,
  },
  {
    name: 'Nuxt',
    programs: ['nuxt', 'nuxi'],
    verbs: ['dev', 'preview'],
    flags: '--port {port} --host {host}',
    port: 3000,
  },
  {
    name: 'Angular',
    programs: ['ng'],
    verbs: ['serve', 'dev', 's'],
    flags: '--port {port} --host {host}',
    port: 4200,
  },
  { ...WEBPACK, programs: ['webpack', 'webpack-cli'], verbs: ['serve', 'server', 's'] },
  { ...WEBPACK, programs: ['webpack-dev-server'], verbs: [''], oncePort: true },
];

/** What a script of package.json runs, as far as it affects the port. */
export interface ScriptReading {
  readonly tool: DevTool | undefined;
  /** The port that the script itself sets. */
  readonly port: number | undefined;
  /** The command that receives flags appended to the script, without its own port and host flags. */
  readonly bareCommand: string;
  /** Whether it sets PORT itself, so that our PORT has no effect. */
  readonly fixesPort: boolean;
}

export function readScript(script: string): ScriptReading {
  // Flags appended to a script reach only its last command.
  const last = script.split(/&&|\|\||[;|&]/).at(-1) ?? '';
  const words = withoutWrappers(last.trim().split(/\s+/));
  const tool = DEV_TOOLS.find((each) => serves(each, words));
  const variable = /(?:^|\s)PORT=["']?(\d{1,5})\b/.exec(script);
  const flag = tool === undefined ? null : /\s(?:--port|-p)[\s=]["']?(\d{1,5})\b/.exec(last);
  const port = Number(flag?.[1] ?? variable?.[1]);
  return {
    tool,
    port: port >= 1 && port <= 65_535 ? port : undefined,
    bareCommand: withoutAddress(words).join(' '),
    fixesPort: tool === undefined && variable !== null,
  };
}

/** Programs that only run another one. */
const WRAPPERS = new Set(['cross-env', 'cross-env-shell', 'env', 'npx', 'bunx']);

function withoutWrappers(words: readonly string[]): readonly string[] {
  let wrapped = false;
  const first = words.findIndex((word) => {
    if (!WRAPPERS.has(word)) return !/^\w+=/.test(word) && !(wrapped && word.startsWith('-'));
    wrapped = true;
    return false;
  });
  return first === -1 ? [] : words.slice(first);
}

function serves({ programs, verbs }: DevTool, words: readonly string[]): boolean {
  const program = words[0]?.split('/').at(-1);
  if (program === undefined || !programs.includes(program)) return false;
  const verb = words[1] ?? '';
  if (verbs.includes(verb)) return true;
  // Flags, or the directory to serve.
  return verbs.includes('') && /^-|[./]/.test(verb);
}

function withoutAddress(words: readonly string[]): readonly string[] {
  const isFlag = (word = ''): boolean => /^(?:--port|--host|--hostname|-p|-H)$/.test(word);
  return words.filter((word, at) => {
    const isValue = isFlag(words[at - 1]) && !word.startsWith('-');
    return !isFlag(word) && !isValue && !/^--(?:port|host|hostname)=/.test(word);
  });
}
