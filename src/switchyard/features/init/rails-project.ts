import { filesOf } from '../../records/project/project-files.ts';
import type { DetectedService, DetectInput } from './detect.ts';

export function detectRails({ root }: DetectInput): DetectedService | undefined {
  const files = filesOf(root);
  if (!files.isFile('bin/rails') || !files.isFile('config/application.rb')) return undefined;
  return {
    name: 'web',
    command: 'bin/rails server -p {port} -b {host}',
    port: 3000,
    reason: 'This is a Rails application.',
    readyTimeout: 60,
  };
}
