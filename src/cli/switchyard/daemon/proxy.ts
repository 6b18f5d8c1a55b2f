import { homeOf, serveProxy, stopProxy } from '../../../switchyard/index.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import { actionOutcome, type YardInvocation, type YardCommand } from '../invocation.ts';

export const yardProxyCommand: YardCommand = {
  about: [
    'One process forwards requests for http://SERVICE.BRANCH.PROJECT.localhost:7331 to the service, on this ' +
      'machine only. `up` starts it if necessary, and `down` leaves it running. stop ends it; the services keep ' +
      'running without their named addresses. serve runs it in the foreground, for debugging.',
  ],
  flags: [
    { name: 'host', value: 'HOST', summary: 'serve: address to listen on (default 127.0.0.1)' },
    { name: 'port', value: 'PORT', summary: 'serve: port to listen on (default 7331)' },
    {
      name: 'home',
      value: 'DIR',
      summary: "serve: Switchyard's home (default SWITCHYARD_HOME, else ~/.switchyard)",
    },
  ],
  examples: [
    ['$0 proxy stop', 'stop the proxy'],
    ['$0 proxy serve --port 8080', 'in the foreground, on another port'],
  ],
  run(given, invocation) {
    switch (given.words[0]) {
      case 'serve':
        return serve(given, invocation);
      case 'stop':
        return invocation.inYard(async (yard) => {
          const { text } = await stopProxy(yard);
          const data = { ok: true, action: 'proxy stop', messages: [text] };
          return actionOutcome(data);
        });
      default:
        throw usage('proxy needs a subcommand.', 'Use switchyard proxy serve or switchyard proxy stop.');
    }
  },
};

async function serve({ flags }: ParsedArguments, { env }: YardInvocation): Promise<CommandOutcome> {
  const home = flags.get('home');
  await serveProxy({
    host: flags.get('host') ?? '127.0.0.1',
    port: portOf(flags.get('port') ?? '7331'),
    home: homeOf(home === undefined ? env : { ...env, SWITCHYARD_HOME: home }),
  });
  return { data: { ok: true }, text: () => '' };
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw usage(`--port must be a number from 1 to 65535, not ${JSON.stringify(text)}.`);
}
