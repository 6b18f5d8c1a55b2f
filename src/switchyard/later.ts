// What few commands need: each is loaded when it is called.
export const allProjects = later(async () => (await import('./features/status/all-projects.ts')).allProjects);
export const checkAlias = later(async () => (await import('./features/mcp/aliases.ts')).checkAlias);
export const checkout = later(async () => (await import('./features/checkout/checkout.ts')).checkout);
export const createWorktree = later(
  async () => (await import('./features/worktrees/create.ts')).createWorktree,
);
export const doctor = later(async () => (await import('./features/doctor/doctor.ts')).doctor);
export const down = later(async () => (await import('./features/down/down.ts')).down);
export const initProject = later(async () => (await import('./features/init/init.ts')).initProject);
export const installSkill = later(async () => (await import('./features/skill/skill.ts')).installSkill);
export const listAliases = later(async () => (await import('./features/mcp/aliases.ts')).listAliases);
export const listWorktrees = later(
  async () => (await import('./records/project/list-worktrees.ts')).listWorktrees,
);
export const openProject = later(async () => (await import('./records/project/open-project.ts')).openProject);
export const pruneProjects = later(async () => (await import('./features/projects/prune.ts')).pruneProjects);
export const pruneWorktrees = later(
  async () => (await import('./features/worktrees/prune.ts')).pruneWorktrees,
);
export const registerAlias = later(async () => (await import('./features/mcp/aliases.ts')).registerAlias);
export const removeWorktree = later(
  async () => (await import('./features/worktrees/remove.ts')).removeWorktree,
);
export const renameProject = later(async () => (await import('./features/projects/rename.ts')).renameProject);
export const restart = later(async () => (await import('./features/up/restart.ts')).restart);
export const serveForward = later(async () => (await import('./features/forwarder/serve.ts')).serveForward);
export const serveProxy = later(async () => (await import('./features/proxy/serve.ts')).serveProxy);
export const showSkill = later(async () => (await import('./features/skill/skill.ts')).showSkill);
export const smokeTest = later(async () => (await import('./features/mcp/smoke.ts')).smokeTest);
export const stopProxy = later(async () => (await import('./features/proxy/stop.ts')).stopProxy);
export const unregisterAlias = later(async () => (await import('./features/mcp/aliases.ts')).unregisterAlias);
export const uncheckout = later(async () => (await import('./features/checkout/uncheckout.ts')).uncheckout);
export const unknownNames = later(
  async () => (await import('./records/project/unknown-names.ts')).unknownNames,
);
export const up = later(async () => (await import('./features/up/up.ts')).up);
export const verify = later(async () => (await import('./features/checkout/verify.ts')).verify);

/** A function that loads its module when it is called. */
function later<Given extends unknown[], Answer>(
  load: () => Promise<(...given: Given) => Answer | Promise<Answer>>,
): (...given: Given) => Promise<Answer> {
  return async (...given) => (await load())(...given);
}
