// Code that few commands need: each module is loaded on first use.
export const allProjects = lazy(async () => (await import('./features/status/all-projects.ts')).allProjects);
export const checkAlias = lazy(async () => (await import('./features/mcp/aliases.ts')).checkAlias);
export const checkout = lazy(async () => (await import('./features/checkout/checkout.ts')).checkout);
export const createWorktree = lazy(
  async () => (await import('./features/worktrees/create.ts')).createWorktree,
);
export const doctor = lazy(async () => (await import('./features/doctor/doctor.ts')).doctor);
export const down = lazy(async () => (await import('./features/down/down.ts')).down);
export const initProject = lazy(async () => (await import('./features/init/init.ts')).initProject);
export const installSkill = lazy(async () => (await import('./features/skill/skill.ts')).installSkill);
export const listAliases = lazy(async () => (await import('./features/mcp/aliases.ts')).listAliases);
export const listWorktrees = lazy(
  async () => (await import('./records/project/list-worktrees.ts')).listWorktrees,
);
export const openProject = lazy(async () => (await import('./records/project/open-project.ts')).openProject);
export const pruneProjects = lazy(async () => (await import('./features/projects/prune.ts')).pruneProjects);
export const pruneWorktrees = lazy(
  async () => (await import('./features/worktrees/prune.ts')).pruneWorktrees,
);
export const registerAlias = lazy(async () => (await import('./features/mcp/aliases.ts')).registerAlias);
export const removeWorktree = lazy(
  async () => (await import('./features/worktrees/remove.ts')).removeWorktree,
);
export const renameProject = lazy(async () => (await import('./features/projects/rename.ts')).renameProject);
export const restart = lazy(async () => (await import('./features/up/restart.ts')).restart);
export const serveForward = lazy(async () => (await import('./features/forwarder/serve.ts')).serveForward);
export const serveProxy = lazy(async () => (await import('./features/proxy/serve.ts')).serveProxy);
export const showSkill = lazy(async () => (await import('./features/skill/skill.ts')).showSkill);
export const smokeTest = lazy(async () => (await import('./features/mcp/smoke.ts')).smokeTest);
export const stopProxy = lazy(async () => (await import('./features/proxy/stop.ts')).stopProxy);
export const unregisterAlias = lazy(async () => (await import('./features/mcp/aliases.ts')).unregisterAlias);
export const uncheckout = lazy(async () => (await import('./features/checkout/uncheckout.ts')).uncheckout);
export const unknownNames = lazy(
  async () => (await import('./records/project/unknown-names.ts')).unknownNames,
);
export const up = lazy(async () => (await import('./features/up/up.ts')).up);
export const verify = lazy(async () => (await import('./features/checkout/verify.ts')).verify);

/** A function that loads its module when it is called. */
function lazy<Given extends unknown[], Answer>(
  load: () => Promise<(...given: Given) => Answer | Promise<Answer>>,
): (...given: Given) => Promise<Answer> {
  return async (...given) => (await load())(...given);
}
