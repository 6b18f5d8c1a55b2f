import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { installSkill, showSkill, swapIn } from './skill.ts';

let target: string;

beforeEach(() => {
  target = mkdtempSync(join(tmpdir(), 'yard-skill-'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(target, { recursive: true, force: true });
});

describe('the skill', () => {
  it('begins with a name and a description that a host can show', () => {
    const front = /^---\nname: switchyard\ndescription: ([^\n]+)\n---\n/.exec(showSkill());
    expect(front?.[1]!.length).toBeGreaterThan(50);
    expect(front?.[1]!.length).toBeLessThanOrEqual(1024);
  });

  it('names the commands and the tools', () => {
    for (const word of ['switchyard_brief', 'switchyard_up', 'sy brief --json', 'sy where', 'sy logs']) {
      expect(showSkill()).toContain(word);
    }
  });
});

describe('installing it', () => {
  it('writes all its files into its own directory, creating it if necessary', () => {
    const deep = join(target, 'not', 'yet');
    const done = installSkill({ target: deep });
    expect(done).toEqual({
      path: join(deep, 'switchyard'),
      files: ['SKILL.md', 'agents/openai.yaml'],
      replaced: false,
    });
    expect(readFileSync(join(done.path, 'SKILL.md'), 'utf8')).toBe(showSkill());
    expect(readFileSync(join(done.path, 'agents/openai.yaml'), 'utf8')).toContain('display_name');
    expect(readdirSync(deep)).toEqual(['switchyard']);
  });

  it('refuses to replace an existing skill, and touches nothing', () => {
    mkdirSync(join(target, 'switchyard'));
    writeFileSync(join(target, 'switchyard', 'mine.md'), 'mine');
    expect(() => installSkill({ target })).toThrow(
      expect.objectContaining({ code: 'SKILL_EXISTS', hint: expect.stringContaining('--force') as string }),
    );
    expect(readdirSync(join(target, 'switchyard'))).toEqual(['mine.md']);
  });

  it('replaces it with force, without leaving a file of the old one', () => {
    mkdirSync(join(target, 'switchyard'));
    writeFileSync(join(target, 'switchyard', 'old.md'), 'old');
    expect(installSkill({ target, force: true }).replaced).toBe(true);
    expect(readdirSync(join(target, 'switchyard')).sort()).toEqual(['SKILL.md', 'agents']);
    expect(readdirSync(target)).toEqual(['switchyard']);
  });

  it('replaces a link, and leaves its target alone', () => {
    const elsewhere = join(target, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'mine.md'), 'mine');
    symlinkSync(elsewhere, join(target, 'switchyard'));
    installSkill({ target, force: true });
    expect(readdirSync(elsewhere)).toEqual(['mine.md']);
    expect(existsSync(join(target, 'switchyard', 'SKILL.md'))).toBe(true);
  });

  it('reports a target that is not a directory', () => {
    const file = join(target, 'file');
    writeFileSync(file, '');
    expect(() => installSkill({ target: file })).toThrow(expect.objectContaining({ code: 'SKILL_INSTALL' }));
  });

  it.skipIf(process.platform === 'win32')(
    'expands ~ to the home directory, where Codex has its skills',
    () => {
      vi.stubEnv('HOME', target);
      expect(installSkill({ target: '~/skills' }).path).toBe(join(target, 'skills', 'switchyard'));
      expect(installSkill().path).toBe(join(target, '.codex', 'skills', 'switchyard'));
    },
  );

  it('restores the old one if the new one cannot be moved into place', () => {
    const path = join(target, 'switchyard');
    mkdirSync(path);
    writeFileSync(join(path, 'mine.md'), 'mine');
    expect(() => swapIn(path, join(target, 'missing'), join(target, 'old'))).toThrow(/ENOENT/);
    expect(readdirSync(path)).toEqual(['mine.md']);
    expect(readdirSync(target)).toEqual(['switchyard']);
  });
});
