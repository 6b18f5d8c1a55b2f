import { installSkill, showSkill } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import type { YardCommand } from '../invocation.ts';

export const yardSkillCommand: YardCommand = {
  about: [
    'A skill is a page that agents read when they need it. This one explains when and how to use Switchyard. ' +
      'show prints it; install writes it to the directory where your agent looks for skills.',
  ],
  flags: [
    {
      name: 'target',
      value: 'DIR',
      summary: 'install: the directory that contains the skills (default ~/.codex/skills)',
    },
    { name: 'force', short: 'f', summary: 'install: replace an existing skill' },
  ],
  examples: [
    ['$0 skill show', 'read it'],
    ['$0 skill install', 'for Codex'],
    ['$0 skill install --target ~/.claude/skills', 'for Claude Code'],
  ],
  async run({ words: [action], flags }) {
    if (action === 'show') {
      const text = await showSkill();
      return { data: { skill: text }, text: () => text };
    }
    if (action !== 'install')
      throw usage('skill needs a subcommand.', 'Use switchyard skill show or switchyard skill install.');
    const target = flags.get('target');
    const done = await installSkill({
      force: flags.has('force'),
      ...(target === undefined ? {} : { target }),
    });
    return {
      data: { ok: true, action: 'skill install', ...done },
      text: () => `${done.replaced ? 'replaced' : 'installed'} ${printableLine(done.path)}\n`,
    };
  },
};
