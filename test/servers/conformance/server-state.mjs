/**
 * What all clients of one server process share: which era it speaks, what it lists just now, and who wants to hear of
 * changes.
 */
import { PROMPTS, RESOURCES, TEMPLATES } from './offer.mjs';
import { TASK_TOOLS } from './tasks.mjs';
import { TOOLS } from './tools.mjs';

export const LEGACY_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const MODERN_VERSION = '2026-07-28';
export const SERVER_INFO = { name: 'conformance', title: 'Conformance child', version: '1.0.0' };
export const INSTRUCTIONS = 'A server for the conformance suite. Its tools do what their names say.';

export class ServerState {
  /** Called with { what: 'tools' | 'prompts' | 'resources', uri? } on each change; a uri means that resource. */
  listeners = new Set();
  /** Tasks of the modern era's extension, by id. */
  tasks = new Map();
  #extra = { tools: false, prompts: false };

  constructor(era) {
    this.era = era;
  }

  get speaksLegacy() {
    return this.era !== 'modern';
  }

  get speaksModern() {
    return this.era !== 'legacy';
  }

  /** The tools with the way to run each, in a fixed order. Tasks are an extension of the modern era only. */
  tools(era) {
    const extra = this.#extra.tools
      ? {
          test_added_tool: {
            description: 'Came with a change of the list.',
            run: () => 'Hello from a tool that was added.',
          },
        }
      : {};
    return { ...TOOLS, ...(era === 'modern' ? TASK_TOOLS : {}), ...extra };
  }

  prompts() {
    const extra = this.#extra.prompts
      ? {
          test_added_prompt: {
            description: 'Came with a change of the list.',
            get: () => 'A prompt that was added.',
          },
        }
      : {};
    return { ...PROMPTS, ...extra };
  }

  resources() {
    return RESOURCES;
  }

  templates() {
    return TEMPLATES;
  }

  /** Adds one more tool or prompt to the list, or takes it away again, and says so. */
  toggle(what) {
    this.#extra[what] = !this.#extra[what];
    this.tell({ what });
  }

  tell(change) {
    for (const listener of this.listeners) listener(change);
  }
}
