import type { CompoundDefinition } from '../../../config/index.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import type { ProbedServer } from './probe-servers.ts';

/** The parts of a compound tool that do not exist, as sentences. Nothing is known about servers that did not answer. */
export function missingParts({ subtools }: CompoundDefinition, probed: readonly ProbedServer[]): string[] {
  return subtools.flatMap(({ server, tools }) => {
    const found = probed.find((each) => each.server.name === server);
    // An incomplete list proves nothing.
    if (found?.kind !== 'answered' || found.incomplete !== undefined) return [];
    const names = found.tools.map((tool) => tool.name);
    return tools
      .filter((tool) => !names.includes(tool.name))
      .map((tool) => {
        const hint = didYouMean(tool.name, names);
        const said = `the server ${JSON.stringify(server)} has no tool ${JSON.stringify(tool.name)}.`;
        return hint === undefined ? said : `${said} ${hint}`;
      });
  });
}

/** `Server1/toolA, Server2/toolB` */
export function partsText({ subtools }: CompoundDefinition): string {
  return subtools.flatMap(({ server, tools }) => tools.map((tool) => `${server}/${tool.name}`)).join(', ');
}

/** For `--json`. */
export function compoundData({ name, description, subtools, origin }: CompoundDefinition): object {
  return {
    name,
    description,
    subtools: subtools.map(({ server, tools }) => ({ server, tools: tools.map((tool) => tool.name) })),
    source: origin,
  };
}
