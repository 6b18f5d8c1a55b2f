import { openBrowser } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import { askGateway } from '../gateway/ask-gateway.ts';
import { allGateways } from '../gateway/running-gateways.ts';
import { canShowPages } from '../../common/can-show-pages.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import { standardFormat, writeOutcome } from '../../kit/output.ts';
import { writeStderr } from '../../kit/stderr.ts';
import type { CliCommand, Context } from '../command.ts';
import { createConsole, serveConsole } from './console-server.ts';

export const consoleCommand: CliCommand = {
  about: [
    'Opens a web page that shows all your gateways on this machine live, no matter which host started them: servers, ' +
      'clients, calls and logs, and your Switchyard projects. On the page, you can start, stop and change servers, ' +
      'try their tools, and see what the model sees. The command runs until you press Ctrl-C.',
    'Prints a link that logs in one browser, once, within ten minutes. In a terminal, press Enter to get another ' +
      'link. Only programs on this machine can connect. Calls and log lines are recorded only while a page shows ' +
      'them, in memory.',
    'With --read-only, the page shows everything but allows no changes.',
  ],
  flags: [
    { name: 'read-only', summary: 'allow no changes' },
    { name: 'http', summary: 'open the console of a running `$0 --http` instead' },
    { name: 'no-open', summary: 'print the link without opening a browser' },
    { name: 'port', value: 'PORT', summary: 'the port to listen on (default: any free one)' },
  ],
  examples: [
    ['$0 console', 'open the page'],
    ['$0 console --read-only', 'show everything, but allow no changes'],
    ['$0 console --no-open --port 4000', 'print the link, for example for an SSH tunnel'],
  ],
  async run(given, context) {
    const { words, flags } = given;
    if (words.length > 0)
      throw usage('console takes no arguments.', `For example: ${context.variant.program} console`);
    if (flags.has('http')) return openHttpConsole(given, context);
    const { stop, env, variant, log, runQuietly } = context;
    let port = 0;
    const page = createConsole({
      env,
      variant,
      log,
      runQuietly,
      readOnly: flags.has('read-only'),
      port: () => port,
    });
    const server = await serveConsole(page, portIn(given), (opened) => (port = opened));
    const link = (): string => server.origin + page.newLink();
    try {
      const first = link();
      const data = {
        url: `${server.origin}/console`,
        link: first,
        pid: process.pid,
        readOnly: flags.has('read-only'),
      };
      const text = `The console is at ${first}\nThe link works once. Press Ctrl-C to stop.\n`;
      await writeOutcome({ data, text: () => text }, flags.has('json'), standardFormat(variant.program));
      if (!flags.has('no-open') && canShowPages(context)) await openBrowser(first, env);
      const unlisten = onEnter(() => writeStderr(`Another link, for another browser: ${link()}\n`));
      await stopped(stop);
      unlisten();
    } finally {
      await server.close();
    }
    return { data: undefined, text: () => '' };
  },
};

/** A link to the console of a gateway that serves HTTP. */
async function openHttpConsole({ flags }: ParsedArguments, context: Context): Promise<CommandOutcome> {
  const lonely = ['read-only', 'port'].find((flag) => flags.has(flag));
  if (lonely !== undefined)
    throw usage(
      `--${lonely} cannot be combined with --http.`,
      'The gateway says where and how it serves its console.',
    );
  for (const { control, url, pid } of allGateways(stateDirectory(context.env))) {
    if (control === undefined || url === undefined) continue;
    const link = await askGateway(control, 'console-link').catch(() => undefined);
    if (typeof link !== 'string') continue;
    if (!flags.has('no-open') && canShowPages(context)) await openBrowser(link, context.env);
    return {
      data: { url: new URL('/console', link).href, link, pid },
      text: () => `The console is at ${link}\nThe link works once.\n`,
    };
  }
  throw new SwitchboardError('NO_GATEWAY', 'No gateway of yours serves a console over HTTP.', {
    hint: `Start one with \`${context.variant.program} --http\`, or leave --http out.`,
  });
}

function portIn({ flags }: ParsedArguments): number {
  const given = flags.get('port');
  if (given === undefined) return 0;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw usage('--port needs a port from 0 to 65535.', 'For example: --port 4000; 0 picks a free one.');
}

function stopped(stop: Context['stop']): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Calls back whenever the user presses Enter, until the returned function is called. */
function onEnter(pressed: () => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  stdin.setEncoding('utf8').on('data', pressed);
  return () => {
    stdin.off('data', pressed);
    stdin.pause();
  };
}
