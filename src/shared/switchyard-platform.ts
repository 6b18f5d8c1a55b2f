import { SwitchboardError } from './errors.ts';

/**
 * Why Switchyard cannot be used on this system; undefined if it can. On Windows, finding out which process listens on a
 * port, and which processes belong together, takes another program and several seconds, and there is no shell for logs
 * and exits.
 */
export function switchyardUnsupported(
  platform: NodeJS.Platform = process.platform,
): SwitchboardError | undefined {
  if (platform !== 'win32') return undefined;
  return new SwitchboardError('SWITCHYARD_UNSUPPORTED', 'On Windows, Switchyard needs WSL.', {
    hint: 'Run it there: https://learn.microsoft.com/windows/wsl',
  });
}
