import { isWell, where } from '../../../switchyard/index.ts';
import { printedLines } from '../../kit/text.ts';
import { usage } from '../../kit/arguments.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import type { YardCommand } from '../invocation.ts';

export const yardWhereCommand: YardCommand = {
  about: [
    'Shows the working address, port and log file of a service, and the proof: which process of which ' +
      'branch listens on its port and on the canonical port, according to the operating system. If the proxy does ' +
      'not respond, the address is the port itself. If nothing responds, the exit code is 1.',
  ],
  flags: [],
  examples: [
    ['$0 where web', 'of the current branch'],
    ['$0 where api feature-x', 'of another branch'],
    ['curl "$($0 where web --json | jq -r .address)"', 'the address that works now'],
    ['psql -p "$($0 where db --json | jq .port)"', 'the port for another program'],
  ],
  run({ words: [service, branch] }, invocation) {
    if (service === undefined) throw usage('where needs a service.', 'For example: switchyard where web');
    return invocation.inYard(async (yard) => {
      const found = await where(yard, { service, branch });
      const lines = [
        found.address ?? found.url,
        ...found.warnings.map((warning) => `warning: ${warning}`),
        `port: ${found.port}`,
        `log: ${found.log_file}`,
        ...found.proof,
      ];
      return {
        exitCode: found.address === null && !isWell(found.state) ? Exit.failed : Exit.ok,
        data: found,
        text: () => printedLines(lines),
      };
    });
  },
};
