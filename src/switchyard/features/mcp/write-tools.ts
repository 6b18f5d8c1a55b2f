import { checkout } from '../checkout/checkout.ts';
import { uncheckout } from '../checkout/uncheckout.ts';
import { down } from '../down/down.ts';
import { up } from '../up/up.ts';
import { createWorktree } from '../worktrees/create.ts';
import {
  closed,
  FLAG,
  listOf,
  NUMBER,
  NUMBER_OR_NULL,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  TEXTS_OR_NULL,
} from './schemas.ts';
import {
  BRANCH_ARGUMENT,
  SCOPE_ARGUMENT,
  SERVICES_ARGUMENT,
  type ToolAnnotations,
  type YardTool,
} from './tool.ts';

/** For tools that change this machine, and may undo something the user wants to keep. */
const LOCAL: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
};

export const createTool: YardTool = {
  name: 'switchyard_create',
  words: ['branch'],
  title: 'Create a worktree',
  description:
    'Create a git worktree for a branch, and the branch if it does not exist, with the configured env files. If it exists, only missing env files are added.',
  hints: LOCAL,
  arguments: {
    branch: { kind: 'text', required: true, description: 'The branch.' },
    base: {
      kind: 'text',
      description:
        'The base of a new branch: a branch, tag or commit. Default: the commit the project has checked out.',
    },
    force_env: { kind: 'flag', description: 'Replace env files that the worktree has already.' },
  },
  output: closed({ created: FLAG, branch: TEXT, worktree: TEXT, env: TEXTS }, { message: TEXT }),
  async run(yard, given, { onEvent }) {
    const { created, branch, worktree, env, message } = await createWorktree(yard, {
      branch: given.required('branch'),
      base: given.text('base'),
      forceEnv: given.flag('force_env'),
      onEvent,
    });
    return { data: { created, branch, worktree, env, ...(message === undefined ? {} : { message }) } };
  },
};

export const upTool: YardTool = {
  name: 'switchyard_up',
  words: ['branch', 'services'],
  runsCommands: true,
  title: 'Start services',
  description:
    'Start services of a branch with the commands of switchyard.toml, and wait until they are ready. Running services are left alone. ' +
    'Cancelling stops the waiting, not the services.',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  arguments: {
    branch: BRANCH_ARGUMENT,
    services: SERVICES_ARGUMENT,
    profile: {
      kind: 'text',
      description: 'The services and variables of a profile, from configured_profiles of the brief.',
    },
  },
  output: closed({
    branch: TEXT,
    worktree: TEXT,
    profile: TEXT_OR_NULL,
    services: { ...TEXTS_OR_NULL, description: 'As requested; null: all.' },
    messages: TEXTS,
    outcomes: listOf(
      closed(
        {
          service: TEXT,
          result: {
            ...TEXT,
            enum: ['ready', 'already-running', 'started', 'not-ready', 'exited', 'not-started'],
          },
          url: TEXT_OR_NULL,
          port: NUMBER_OR_NULL,
          pid: NUMBER_OR_NULL,
          log_file: TEXT_OR_NULL,
        },
        { exit_code: NUMBER },
      ),
    ),
  }),
  async run(yard, given, { signal, onEvent }) {
    const done = await up(yard, {
      branch: given.text('branch'),
      services: given.texts('services'),
      profile: given.text('profile'),
      signal,
      onEvent,
    });
    const { ok, branch, worktree, profile, messages } = done;
    const outcomes = done.outcomes.map(({ service, result, url, port, pid, log_file, exit_code }) => ({
      ...{ service, result, url, port, pid, log_file },
      ...(exit_code === undefined ? {} : { exit_code }),
    }));
    const services = requested(done.services);
    return { data: { branch, worktree, profile, services, messages, outcomes }, failed: !ok };
  },
};

export const checkoutTool: YardTool = {
  name: 'switchyard_checkout',
  words: ['branch', 'services'],
  title: 'Take the canonical ports',
  description:
    'Point the canonical ports of switchyard.toml on localhost to the running services of a branch. A branch that had them before keeps running.',
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    branch: { kind: 'text', required: true, description: 'The branch, by its name or its slug.' },
    services: SERVICES_ARGUMENT,
  },
  output: closed({ branch: TEXT, services: TEXTS_OR_NULL, messages: TEXTS }),
  async run(yard, given, { signal, onEvent }) {
    const { ok, branch, services, messages } = await checkout(yard, {
      branch: given.required('branch'),
      services: given.texts('services'),
      signal,
      onEvent,
    });
    return { data: { branch, services: requested(services), messages }, failed: !ok };
  },
};

/** The common output of tools that stop something. */
const STOPPED = closed({
  branch: { ...TEXT_OR_NULL, description: 'null: all branches.' },
  services: TEXTS_OR_NULL,
  messages: TEXTS,
});

export const uncheckoutTool: YardTool = {
  name: 'switchyard_uncheckout',
  words: ['branch', 'services'],
  orRecorded: true,
  title: 'Release the canonical ports',
  description:
    'Undo switchyard_checkout: release the canonical ports of switchyard.toml. Services keep running.',
  hints: LOCAL,
  arguments: { branch: SCOPE_ARGUMENT, services: SERVICES_ARGUMENT },
  output: STOPPED,
  async run(yard, given, { signal, onEvent }) {
    const { branch, services, messages } = await uncheckout(yard, {
      branch: given.text('branch'),
      services: given.texts('services'),
      signal,
      onEvent,
    });
    return { data: { branch: given.text('branch') ?? branch, services: requested(services), messages } };
  },
};

export const downTool: YardTool = {
  name: 'switchyard_down',
  words: ['branch', 'services'],
  orRecorded: true,
  title: 'Stop services',
  description: 'Stop services that Switchyard started, with their whole process trees, and nothing else.',
  hints: LOCAL,
  arguments: { branch: SCOPE_ARGUMENT, services: SERVICES_ARGUMENT },
  output: STOPPED,
  async run(yard, given, { signal, onEvent }) {
    const { ok, branch, services, messages } = await down(yard, {
      branch: given.text('branch'),
      services: given.texts('services'),
      signal,
      onEvent,
    });
    const data = { branch: given.text('branch') ?? branch, services: requested(services), messages };
    return { data, failed: !ok };
  },
};

/** Null, for all, if none is named. */
function requested(services: readonly string[]): readonly string[] | null {
  return services.length === 0 ? null : services;
}
