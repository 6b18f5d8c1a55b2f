import { SwitchboardError } from '../../../shared/errors.ts';
import { VERSION } from '../../../shared/version.ts';
import { urlOf } from '../../records/names.ts';
import { openContext, type YardContext } from '../../records/project/context.ts';
import { homeOf } from '../../records/state/home.ts';
import { envWarnings } from '../worktrees/env-warnings.ts';
import type { Finding } from './finding.ts';
import { examineListening } from './listening.ts';
import { examineMachine, examineNeeds } from './machine.ts';
import { examineProject, examineWorktrees } from './project.ts';
import { examineRecords } from './records.ts';
import { examineResolving } from './resolving.ts';

interface Programs {
  /** The versions of the programs. */
  readonly switchyard: string;
  readonly node: string;
  readonly home: string;
  /** Errors first, then warnings, then notes. */
  readonly findings: readonly Finding[];
}

export interface Diagnosis extends Programs {
  /** False if one of the findings is an error. */
  readonly ok: boolean;
  readonly project: {
    readonly name: string;
    readonly slug: string;
    readonly root: string;
    readonly config: string;
  };
  readonly proxy: {
    readonly host: string;
    readonly port: number;
    readonly tld: string;
    readonly url: string;
  };
  readonly services: readonly string[];
  readonly profiles: readonly string[];
  readonly env_warnings: readonly string[];
}

/** There is no project, or it cannot be read. */
export interface FailedDiagnosis extends Programs {
  readonly ok: false;
  readonly cwd: string;
  readonly error: string;
  readonly hint?: string;
}

/** Checks everything that services need. Only reads, and never throws for what it finds. */
export async function doctor(options: {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}): Promise<Diagnosis | FailedDiagnosis> {
  let context: YardContext;
  try {
    context = openContext(options);
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return failed(options, error);
  }
  return examine(context);
}

/** The same for an open project. */
export async function examine(context: YardContext): Promise<Diagnosis> {
  const { config, home } = context;
  const checks = [
    examineNeeds,
    examineProject,
    examineWorktrees,
    examineRecords,
    examineListening,
    examineResolving,
  ];
  const found = await Promise.all(checks.map((check) => attempt(check, context)));
  const findings = bySeverity([...examineMachine(home), ...found.flat()]);
  const { name, slug, root, file, proxy } = config;
  return {
    ok: !findings.some(({ level }) => level === 'error'),
    ...programs(home.root),
    project: { name, slug, root, config: file },
    proxy: { ...proxy, url: urlOf(proxy.host, proxy.port) },
    services: config.services.map((service) => service.name).sort(),
    profiles: config.profiles.map((profile) => profile.name).sort(),
    env_warnings: envWarnings(config),
    findings,
  };
}

/** A check that fails is itself a finding. */
async function attempt(
  check: (context: YardContext) => readonly Finding[] | Promise<readonly Finding[]>,
  context: YardContext,
): Promise<readonly Finding[]> {
  try {
    return await check(context);
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    // The check of the machine reports this already.
    if (error.code === 'GIT_MISSING') return [];
    return [{ level: 'error', what: error.message, next: error.hint ?? 'See the message.' }];
  }
}

function failed(
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  error: SwitchboardError,
): FailedDiagnosis {
  const home = homeOf(env);
  const failure: Finding = { level: 'error', what: error.message, next: error.hint ?? 'See the message.' };
  return {
    ok: false,
    ...programs(home.root),
    cwd,
    error: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    findings: bySeverity([failure, ...examineMachine(home)]),
  };
}

function programs(home: string): Pick<Programs, 'switchyard' | 'node' | 'home'> {
  return { switchyard: VERSION, node: process.versions.node, home };
}

const SEVERITY: readonly Finding['level'][] = ['error', 'warning', 'note'];

function bySeverity(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort((a, b) => SEVERITY.indexOf(a.level) - SEVERITY.indexOf(b.level));
}
