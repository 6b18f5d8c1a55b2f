export { openBrowser } from '../process/index.ts';
export { gitIn } from './records/git/git.ts';
export { slug } from './records/names.ts';
export { resolveBranch, scopeBranch } from './records/project/branch.ts';
export {
  contextWarnings,
  openContext,
  projectRecord,
  recordedServices,
  type ContextOptions,
  type YardContext,
} from './records/project/context.ts';
export { homeOf } from './records/state/home.ts';
export { openRegistry } from './records/state/registry.ts';
export type { YardEvent } from './runtime/events.ts';
export { isWell, type ServiceState } from './runtime/services/service-state.ts';
export { brief, type Brief } from './features/brief/brief.ts';
export {
  AGENT_BYTES,
  followServices,
  logs,
  type LogsOptions,
  type LogsResult,
} from './features/logs/logs.ts';
export { bindProject, isRegistered, openBoundProject } from './features/mcp/project-binding.ts';
export { status, type ServiceStatus, type YardStatus } from './features/status/status.ts';
export { where } from './features/where/where.ts';
export type { Verification } from './features/checkout/verify.ts';
export type { Diagnosis, FailedDiagnosis } from './features/doctor/doctor.ts';
export type { InitResult } from './features/init/init.ts';
export type { ProjectStatus } from './features/status/all-projects.ts';
export type { UpOptions, UpResult } from './features/up/up.ts';
export * from './lazy.ts';
