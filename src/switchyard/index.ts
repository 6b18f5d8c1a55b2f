import type { checkout as Checkout } from './forward/checkout.ts';

// What is asked often, by people at every prompt and by agents at every step, is loaded at once.
export { brief, type Brief } from './brief.ts';
export { openContext, projectRecord, resolveBranch, scopeBranch, type YardContext } from './context.ts';
export { hostName, slug, urlOf } from './names.ts';
export type { YardEvent } from './services/events.ts';
export { status, type ServiceStatus } from './services/status.ts';
export { homeOf } from './state/home.ts';
export { where } from './where.ts';

// The rest when it is needed.
export const checkout: typeof Checkout = async (...given) => (await import('./forward/checkout.ts')).checkout(...given);
