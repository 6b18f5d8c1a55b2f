export { Decisions, type AllowedTool } from './decisions.ts';
export { guardedSource } from './guarded-source.ts';
export { Pins, type PinnedServer } from './pins.ts';
export { Records } from './records.ts';
export { isNotable, Review, type ServerReview, type ToolReview } from './review.ts';
