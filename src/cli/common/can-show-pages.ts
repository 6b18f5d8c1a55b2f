import { findCommand } from '../../process/index.ts';

interface LaunchContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether we can open a browser for the person who typed the command. */
export function canShowPages(
  { cwd, env }: LaunchContext,
  platform: NodeJS.Platform = process.platform,
): boolean {
  // The person and their browser are on another machine.
  if (env.SSH_CONNECTION) return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY && !env.WSL_DISTRO_NAME && !env.BROWSER) return false;
  return findCommand('xdg-open', { cwd, env, platform }).kind === 'found';
}
