import { findCommand } from '../../process/index.ts';

interface LaunchContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether a page can be shown to the person who typed the command. */
export function canShowPages(
  { cwd, env }: LaunchContext,
  platform: NodeJS.Platform = process.platform,
): boolean {
  // The person sits at another machine, and so does their browser.
  if (env.SSH_CONNECTION) return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY && !env.WSL_DISTRO_NAME && !env.BROWSER) return false;
  return findCommand('xdg-open', { cwd, env, platform }).kind === 'found';
}
