import type { JsonObject } from '../../../protocol/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';

/** A predefined prompt. It only contains instructions and has no effect itself. */
export interface YardPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  readonly text: (given: Readonly<Record<string, string>>) => string;
}

export const PROMPTS: readonly YardPrompt[] = [
  {
    name: 'switchyard_runtime_handoff',
    title: 'Take over the local runtime',
    description: 'Find out what runs in this project and where, before changing anything.',
    arguments: [],
    text: () =>
      [
        'Inspect the local runtime of this project with Switchyard.',
        '',
        '1. Read the resource switchyard://project/brief, or call switchyard_brief.',
        '2. Use only names from configured_services and configured_profiles.',
        '3. Check env_warnings. Call switchyard_doctor only if you need more details about the setup.',
        '4. Call switchyard_where for the one service that matters, and use the URL it returns.',
        '5. Call switchyard_logs with a service, and with grep or since, to investigate problems.',
        '',
        'Ask for approval before you call switchyard_create, switchyard_up, switchyard_checkout, ' +
          'switchyard_uncheckout or switchyard_down. Then summarize in a few lines what runs, where, and what is wrong.',
      ].join('\n'),
  },
  {
    name: 'switchyard_branch_runtime',
    title: 'Bring up a branch',
    description: 'Create a worktree for a branch if it has none, and start its services.',
    arguments: [
      { name: 'branch', description: 'The branch to bring up.', required: true },
      {
        name: 'services',
        description: 'Names of services, separated by spaces. Default: all configured services.',
        required: false,
      },
    ],
    text: ({ branch, services }) => {
      const names = (services ?? '').split(/\s+/).filter((name) => name !== '');
      const what = names.length === 0 ? 'all configured services' : names.join(' ');
      return [
        `Bring up the branch ${branch ?? ''} with Switchyard: ${what}.`,
        '',
        '1. Read switchyard://project/brief, or call switchyard_brief.',
        `2. If ${branch ?? ''} has no worktree and the user wants one, call switchyard_create.`,
        '3. Compare the names with configured_services and configured_profiles, and check env_warnings.',
        '4. After approval, call switchyard_up for this branch' +
          `${names.length === 0 ? '' : `, with services ${JSON.stringify(names)}`}.`,
        '5. Report the URL of each service. Call switchyard_logs only for one that did not become ready.',
      ].join('\n');
    },
  },
];

/** The result of `prompts/get`. */
export function getPrompt(name: string, given: unknown): JsonObject {
  const prompt = PROMPTS.find((each) => each.name === name);
  if (prompt === undefined) throw wrong(`unknown prompt: ${name.slice(0, 200)}`);
  const texts = given ?? {};
  if (!isTexts(texts)) throw wrong('arguments must be an object of strings');
  const known = prompt.arguments.map((each) => each.name);
  const unknown = Object.keys(texts).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw wrong(`unexpected argument(s): ${unknown.join(', ').slice(0, 200)}`);
  for (const { name: key, required } of prompt.arguments)
    if (required && (texts[key] ?? '').trim() === '') throw wrong(`${key} is required`);
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(texts) } }],
  };
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function wrong(message: string): SwitchboardError {
  return new SwitchboardError('PARAMS_INVALID', message);
}
