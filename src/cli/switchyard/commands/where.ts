import { where as look } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../arguments.ts';
import { Exit } from '../../failure.ts';
import type { YardCommand } from '../command.ts';

export const where: YardCommand = {
  about: [
    'The address, the port and the log of a service, and the proof: which process of which branch listens on its port, ' +
      'and on the usual one, by the word of the system and not of our records.',
  ],
  flags: [],
  examples: [
    ['$0 where web', 'of the branch you stand in'],
    ['$0 where api feature-x', 'of another branch'],
    ['psql -p "$($0 where db --json | jq .port)"', 'the port for another program'],
  ],
  run({ words: [service, branch] }, place) {
    if (service === undefined) throw usage('where needs a service.', 'For example: switchyard where web');
    return place.inYard(async (yard) => {
      const found = await look(yard, { service, branch });
      const lines = [found.url, `port: ${found.port}`, `log: ${found.log_file}`, ...found.proof];
      return {
        exitCode: Exit.ok,
        data: found,
        text: () => lines.map((line) => `${printableLine(line)}\n`).join(''),
      };
    });
  },
};
