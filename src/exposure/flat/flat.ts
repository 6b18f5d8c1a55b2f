import { SwitchboardError } from '../../shared/errors.ts';
import { withMembers } from '../../wire/index.ts';
import {
  labelWithServer,
  namespaceOf,
  prefixedToolName,
  type CatalogEntry,
  type Exposure,
  type Naming,
  type OfferedTool,
  type PresentedTool,
} from '../../gateway/index.ts';
import { callEdits } from '../call-edits.ts';

/** Exposes every tool of a server as a separate tool, with everything that its server says about it. */
export function flat(naming: Naming): Exposure {
  return {
    needsTools: true,
    present: (entry, filtered) => (filtered?.tools ?? []).map((tool) => presentedOnce(entry, tool, naming)),
  };
}

/** The presentation of a tool, created once: tools stay the same objects as long as their list does. */
function presentedOnce({ source }: CatalogEntry, tool: OfferedTool, naming: Naming): PresentedTool {
  const made = presented.get(tool);
  if (made?.server === source.name && made.naming === naming) return made.tool;
  const fresh = present(source.name, tool, naming);
  presented.set(tool, { server: source.name, naming, tool: fresh });
  return fresh;
}

interface Presented {
  readonly server: string;
  readonly naming: Naming;
  readonly tool: PresentedTool;
}

const presented = new WeakMap<OfferedTool, Presented>();

function present(server: string, tool: OfferedTool, naming: Naming): PresentedTool {
  const prefixed = prefixedToolName(server, tool.name);
  const original = JSON.stringify(tool.original);
  const subject = (): string => `Tool '${tool.original}' of server '${server}'`;
  let defined: { readonly name: string; readonly text: string } | undefined;
  return {
    names: naming === 'prefixed' ? [prefixed] : [tool.name, prefixed],
    definition: (name) => {
      if (defined?.name !== name) defined = { name, text: definition(server, tool, name, naming) };
      return defined.text;
    },
    run: (call, name, source) => {
      if (source === undefined) throw new Error('The tool of a server is run by that server.');
      call.assign(source, subject, tool.original);
      const edits = callEdits(call.request, {
        name: name === tool.original ? undefined : original,
        args: undefined,
        presets: tool.presets,
      });
      if (tool.resultLimits !== undefined) call.limitResult(tool.resultLimits, 'resource');
      if (edits instanceof SwitchboardError) call.fail(edits);
      else source.request(edits, call);
    },
  };
}

function definition(
  server: string,
  { component, name: own }: OfferedTool,
  name: string,
  naming: Naming,
): string {
  const changes: Record<string, string> = {};
  if (name !== own) changes.name = JSON.stringify(name);
  // If the name does not include the server, the description does.
  if (naming === 'plain' || (naming === 'prefixed' && namespaceOf(server) !== server))
    changes.description = JSON.stringify(labelWithServer(server, component.member('description')));
  return withMembers(component.text, changes);
}
