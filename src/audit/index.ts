export { auditFile, AuditLog } from './audit-log.ts';
export type { AuditRecord } from './audit-record.ts';
export { redactArguments } from './redact-arguments.ts';
export { HistoryReader, type HistoryFilter } from './history.ts';
