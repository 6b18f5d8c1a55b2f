import { hostName, openBrowser, resolveBranch, slug, urlOf } from '../../../switchyard/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../arguments.ts';
import { canShowPages } from '../../browser.ts';
import { Exit } from '../../failure.ts';
import type { YardCommand } from '../command.ts';

export const open: YardCommand = {
  about: [
    'Prints the address and opens it. The address of a service is known before it runs and stays the same, so this ' +
      'works at any time; the page says when nothing answers.',
  ],
  flags: [{ name: 'print-only', summary: 'only print the address' }],
  examples: [
    ['$0 open web', 'the branch you stand in'],
    ['$0 open web feature-x', 'another branch'],
    ['curl "$($0 open api --print-only)/health"', 'the address for another program'],
  ],
  run({ words: [name, branch], flags }, place) {
    if (name === undefined) throw usage('open needs a service.', 'For example: switchyard open web');
    return place.inYard(async (yard) => {
      const { config } = yard;
      const known = config.services.map((service) => service.name);
      if (!known.includes(slug(name)))
        throw new SwitchboardError('UNKNOWN_SERVICE', `unknown service(s): ${name}`, {
          hint: didYouMean(name, known) ?? `There are: ${known.join(', ')}.`,
        });
      const meant = await resolveBranch(yard, branch);
      const host = hostName(name, meant.branch, config.name, config.proxy.tld);
      const url = urlOf(host, config.proxy.port);
      const wanted = !flags.has('print-only');
      const opened = wanted && canShowPages(place) && (await openBrowser(url, place.env));
      return {
        exitCode: Exit.ok,
        data: { ok: true, url, opened },
        text: () => `${printableLine(url)}\n`,
        ...(wanted && !opened ? { complaint: 'No browser can be opened here.\n' } : {}),
      };
    });
  },
};
