import type { LoadedConfig, NotAllowed } from '../config/index.ts';
import { askUser, canAskUser, type Call, type Exposure, type UserAnswer } from '../gateway/index.ts';
import { Client } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import { everythingToAllow } from './services-to-allow.ts';

export interface AskForProjectOptions {
  readonly config: () => LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  /** Remembers that a project is allowed, and applies its configuration. */
  readonly allow: (project: NotAllowed) => Promise<void>;
  /** Whether a tool is exposed at the moment. */
  readonly isExposed: (tool: string) => boolean;
  /** Routes a call again, now that its project is allowed. */
  readonly handle: (call: Call) => void;
}

/** Asks the user of a client, once, whether a project that is not allowed yet may be used. */
export class AskForProject {
  readonly #options: AskForProjectOptions;
  /** The question that was asked, and its answer. */
  #asked: { readonly about: NotAllowed; readonly answer: Promise<UserAnswer> } | undefined;

  constructor(options: AskForProjectOptions) {
    this.#options = options;
  }

  /** The same tools, but they ask before they do anything. */
  before(exposure: Exposure): Exposure {
    return {
      needsTools: false,
      present: (entry, filtered) =>
        exposure.present(entry, filtered).map((tool) => ({
          names: tool.names,
          definition: (name) => tool.definition(name),
          run: (call) => {
            const { problem } = entry.source;
            if (problem === undefined) throw new Error('A project that asks to be allowed has a problem.');
            void this.#run(call, problem);
          },
        })),
    };
  }

  async #run(call: Call, problem: SwitchboardError): Promise<void> {
    try {
      const config = this.#options.config();
      const about = config.notAllowed && (await everythingToAllow(config, this.#options.env));
      // A yes applies only to the exact content that the user was shown.
      if (
        about === undefined ||
        !canAskUser(call) ||
        // Not everything would be shown, so a yes would not cover it.
        about.runs.length > MOST_LINES ||
        (this.#asked !== undefined && !isSame(this.#asked.about, about))
      ) {
        call.fail(problem);
        return;
      }
      this.#asked ??= { about, answer: askUser({ message: question(about) }, call) };
      const answer = await this.#asked.answer;
      if (answer.kind === 'cancelled') this.#asked = undefined;
      if (answer.kind !== 'accepted') {
        call.fail(declined(problem));
        return;
      }
      await this.#options.allow(about);
      if (this.#options.config().notAllowed !== undefined) call.fail(problem);
      else if (this.#options.isExposed(call.request.string(Client.name) ?? '')) this.#options.handle(call);
      else call.fail(replaced(this.#options.config()));
    } catch (error) {
      call.fail(
        error instanceof SwitchboardError
          ? error
          : new SwitchboardError('INTERNAL', 'Could not allow the project.', { cause: error }),
      );
    }
  }
}

function isSame(one: NotAllowed, other: NotAllowed): boolean {
  const content = ({ files }: NotAllowed): string => JSON.stringify(files);
  return content(one) === content(other);
}

function declined(problem: SwitchboardError): SwitchboardError {
  return new SwitchboardError('PROJECT_NOT_ALLOWED', `${problem.message} The user declined.`, {
    hint: problem.hint,
  });
}

/** The tool represented a server whose own tools can be found or listed now. */
function replaced({ settings, servers }: LoadedConfig): SwitchboardError {
  const isSearched = [settings, ...servers].some(
    ({ exposure }) => exposure === 'search' || exposure === 'code',
  );
  return new SwitchboardError(
    'TOOLS_CHANGED',
    'The project is allowed now, and other tools replace this one.',
    {
      hint: isSearched ? 'find_tool finds them.' : 'Call tools/list to see them.',
    },
  );
}

/** Each command is printable and on one line: what is shown must be what will run. */
function question({ directory, files, runs }: NotAllowed): string {
  const listed = (lines: readonly string[]): string[] => lines.map((line) => `- ${printableLine(line)}`);
  return [
    `Allow the MCP servers of the project ${printableLine(directory)}? Accept only if you trust it.`,
    'They would run:',
    ...listed(runs),
    'Defined in:',
    ...listed(files.map(({ path }) => path)),
  ].join('\n');
}

const MOST_LINES = 20;
