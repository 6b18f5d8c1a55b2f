import { openBrowser, where } from '../../../switchyard/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { canShowPages } from '../../common/can-show-pages.ts';
import type { YardCommand } from '../invocation.ts';
import { printedLines } from '../../kit/text.ts';

export const yardOpenCommand: YardCommand = {
  about: [
    'Prints the address of a service and opens it in the browser. If the proxy does not respond, it uses the ' +
      'port of the service itself. If nothing responds, it opens nothing and says why.',
  ],
  flags: [{ name: 'print-only', summary: 'only print the address' }],
  examples: [
    ['$0 open web', 'the current branch'],
    ['$0 open web feature-x', 'another branch'],
    ['curl "$($0 open api --print-only)/health"', 'the address for another program'],
  ],
  run({ words: [name, branch], flags }, invocation) {
    if (name === undefined) throw usage('open needs a service.', 'For example: switchyard open web');
    return invocation.inYard(async (yard) => {
      const { address, warnings } = await where(yard, { service: name, branch });
      if (address === null) throw new SwitchboardError('NOT_LISTENING', warnings.join(' '));
      const wanted = !flags.has('print-only');
      const opened = wanted && canShowPages(invocation) && (await openBrowser(address, invocation.env));
      const complaints = [
        ...warnings.map((warning) => `warning: ${warning}`),
        ...(wanted && !opened ? ['Could not open a browser.'] : []),
      ];
      return {
        data: { ok: true, url: address, opened, warnings },
        text: () => `${printableLine(address)}\n`,
        complaint: printedLines(complaints),
      };
    });
  },
};
