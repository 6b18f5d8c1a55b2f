import { homeOf, serveForward } from '../../../switchyard/index.ts';
import { usage } from '../../kit/arguments.ts';
import type { YardCommand } from '../invocation.ts';

export const yardForwardCommand: YardCommand = {
  about: ['Serves the canonical ports that `checkout` assigned to branches. `checkout` starts it.'],
  flags: [
    {
      name: 'home',
      value: 'DIR',
      summary: "Switchyard's home (default SWITCHYARD_HOME, else ~/.switchyard)",
    },
  ],
  examples: [['$0 forward serve', 'in the foreground, for debugging']],
  async run({ words: [action], flags }, { env }) {
    if (action !== 'serve') throw usage('forward needs a subcommand.', 'Use: switchyard forward serve');
    const home = flags.get('home');
    await serveForward({
      home: homeOf(home === undefined ? env : { ...env, SWITCHYARD_HOME: home }),
    });
    return { data: { ok: true }, text: () => '' };
  },
};
