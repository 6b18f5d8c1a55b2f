import { initProject, type InitResult } from '../../../switchyard/index.ts';
import { printable, printableLine } from '../../../shared/printable.ts';
import type { YardCommand } from '../invocation.ts';
import { printedLines } from '../../kit/text.ts';

export const yardInitCommand: YardCommand = {
  about: [
    'Inspects the repository (scripts in package.json, Vite, Next, Astro, Django, FastAPI, Rails, Go), writes a ' +
      'switchyard.toml with the service it found, and makes git ignore .switchyard/. Review the file: every branch ' +
      'gets free ports, so a command must use the environment variable PORT, or {port} in its arguments.',
  ],
  flags: [
    { name: 'force', short: 'f', summary: 'overwrite an existing switchyard.toml' },
    { name: 'dry-run', summary: 'show the changes without making them' },
  ],
  examples: [
    ['$0 init', 'once for each repository'],
    ['$0 init --dry-run', 'preview it'],
    ['$0 init && $0 up', 'set up and start'],
  ],
  async run({ flags }, { cwd, env }) {
    const done = await initProject({ cwd, env, force: flags.has('force'), dryRun: flags.has('dry-run') });
    return {
      data: done,
      text: () => (done.dry_run ? printable(done.config_text) : written(done)),
      complaint:
        done.dry_run && done.failure_reason !== null
          ? `this would fail: ${printableLine(done.failure_reason)}\n`
          : '',
    };
  },
};

function written({ config, overwrote_config, detected_service }: InitResult): string {
  const { name, command, reason } = detected_service;
  const lines = [
    `${overwrote_config ? 'overwrote' : 'wrote'} ${config}`,
    `service ${name}: ${command}`,
    `  ${reason}`,
    'next: review it, then run `switchyard up`',
  ];
  return printedLines(lines);
}
