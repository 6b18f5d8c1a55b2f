export { accessOf, isGranted, roleClaims, type Access } from './access.ts';
export { configFor } from './config-for.ts';
export { CallLimiter } from './limiter.ts';
export { limitSource } from './limited-source.ts';
