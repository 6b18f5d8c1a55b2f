// Frequently used functions are loaded with the program.
export { brief, type Brief } from './brief.ts';
export { openContext, projectRecord, resolveBranch, scopeBranch, type YardContext } from './context.ts';
export { gitIn } from './git.ts';
export { AGENT_BYTES, followServices, logs, type LogsOptions, type LogsResult } from './logs/logs.ts';
export { openBoundProject, bindProject } from './mcp/project-binding.ts';
export { slug } from './names.ts';
export type { YardEvent } from './services/events.ts';
export { isWell } from './services/state.ts';
export { status, type ServiceStatus, type YardStatus } from './services/status.ts';
export { homeOf } from './state/home.ts';
export { openRegistry } from './state/registry.ts';
export { where } from './where.ts';
export { openBrowser } from '../process/index.ts';

// The others when they are called.
export const allProjects = later(async () => (await import('./projects/status.ts')).allProjects);
export const checkAlias = later(async () => (await import('./mcp/aliases.ts')).checkAlias);
export const checkout = later(async () => (await import('./forward/checkout.ts')).checkout);
export const createWorktree = later(async () => (await import('./worktrees/create.ts')).createWorktree);
export const doctor = later(async () => (await import('./doctor.ts')).doctor);
export const down = later(async () => (await import('./services/down.ts')).down);
export const initProject = later(async () => (await import('./init/init.ts')).initProject);
export const installSkill = later(async () => (await import('./skill/skill.ts')).installSkill);
export const listAliases = later(async () => (await import('./mcp/aliases.ts')).listAliases);
export const listWorktrees = later(async () => (await import('./worktrees/list.ts')).listWorktrees);
export const openProject = later(async () => (await import('./projects/find.ts')).openProject);
export const pruneProjects = later(async () => (await import('./projects/prune.ts')).pruneProjects);
export const pruneWorktrees = later(async () => (await import('./worktrees/prune.ts')).pruneWorktrees);
export const registerAlias = later(async () => (await import('./mcp/aliases.ts')).registerAlias);
export const removeWorktree = later(async () => (await import('./worktrees/remove.ts')).removeWorktree);
export const renameProject = later(async () => (await import('./rename.ts')).renameProject);
export const restart = later(async () => (await import('./services/restart.ts')).restart);
export const serveForward = later(async () => (await import('./forward/serve.ts')).serveForward);
export const serveProxy = later(async () => (await import('./proxy/serve.ts')).serveProxy);
export const showSkill = later(async () => (await import('./skill/skill.ts')).showSkill);
export const smokeTest = later(async () => (await import('./mcp/smoke.ts')).smokeTest);
export const stopProxy = later(async () => (await import('./proxy/stop.ts')).stopProxy);
export const unregisterAlias = later(async () => (await import('./mcp/aliases.ts')).unregisterAlias);
export const uncheckout = later(async () => (await import('./forward/uncheckout.ts')).uncheckout);
export const unknownNames = later(async () => (await import('./unknown-names.ts')).unknownNames);
export const up = later(async () => (await import('./services/up.ts')).up);
export const verify = later(async () => (await import('./forward/verify.ts')).verify);

export type { Diagnosis, FailedDiagnosis } from './doctor.ts';
export type { CheckoutResult } from './forward/checkout.ts';
export type { Verification } from './forward/verify.ts';
export type { InitResult } from './init/init.ts';
export type { ProjectStatus } from './projects/status.ts';
export type { UpOptions, UpResult } from './services/up.ts';

/** A function that loads its module when it is called. */
function later<Given extends unknown[], Answer>(
  load: () => Promise<(...given: Given) => Answer | Promise<Answer>>,
): ((...given: Given) => Promise<Answer>) & { soon: () => void } {
  return Object.assign(async (...given: Given) => (await load())(...given), {
    /** Starts loading the module before it is called. */
    soon: () => void load().catch(() => undefined),
  });
}
