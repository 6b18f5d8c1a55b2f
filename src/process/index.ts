export type { RunningProcess } from './process-list.ts';
export type { ChildEnd } from './root-process.ts';
export { sandboxArguments, type ProgramSandbox } from './sandbox.ts';
export { withDescendants } from './descendants.ts';
export {
  describeProcess,
  environmentOf,
  showsEnvironments,
  variableOfProcess,
  type ProcessDescription,
} from './describe-process.ts';
export { startDetached, type Detached, type DetachedEnd, type DetachedOptions } from './detached.ts';
export { readExit, type RecordedExit } from './exit-file.ts';
export { commandNotExecutable, commandNotFound, directoryUnusable } from './command-problems.ts';
export { cgroupDirectory } from './cgroup.ts';
export { createChildProcesses, type Child, type ChildProcesses } from './child-processes.ts';
export { lazyChildProcesses, type LazyChildProcesses } from './lazy-child-processes.ts';
export { findCommand, findExecutable, type FoundCommand } from './find-command.ts';
export { bootId, pidNamespace, type ProcessIdentity } from './process-identity.ts';
export { memoryOf, privateMemory } from './memory-of.ts';
export { isProcessAlive, processStatus, ownIdentity, type RecordedIdentity } from './recorded-identity.ts';
export { reviveLogWriter, writtenLogs, type LogLimit } from './log-writer.ts';
export { createTreeFinder, type TreeFinder, type ProcessSnapshot } from './find-trees.ts';
export type { TreeIdentity } from './process-tree.ts';
export { openBrowser } from './open-browser.ts';
export { DAEMON_COOKIE, SERVICE_COOKIE } from './service-cookies.ts';
export { captureOutput } from './output.ts';
export { heldBy, portHolders, type PortHolder } from './port-holders.ts';
export { run, type RunResult, type RunOptions } from './run.ts';
export type { SignsOfLife } from './signs-of-life.ts';
export type { StopReport } from './terminate.ts';
export { loadWindows } from './windows.ts';
