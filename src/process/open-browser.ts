import { spawn } from 'node:child_process';

/** How long the program that opens browsers may take to say that it cannot, in milliseconds. */
const PATIENCE = 2000;

/**
 * Shows a page in the system's browser; false where that does not work, for example for want of a screen. Only http and
 * https addresses are opened, and no shell sees them.
 */
export async function openBrowser(url: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const { href, protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  const [program, ...args] = openerOf(process.platform);
  if (program === undefined || !hasScreen(process.platform, env)) return false;
  return new Promise((resolve) => {
    const child = spawn(program, [...args, href], {
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
      env,
    });
    // Some openers end at once, others stay as long as the browser does.
    const enough = setTimeout(() => resolve(true), PATIENCE);
    const settle = (opened: boolean): void => {
      clearTimeout(enough);
      resolve(opened);
    };
    child.once('error', () => settle(false));
    child.once('exit', (code) => settle(code === 0));
    child.unref();
  });
}

function openerOf(platform: NodeJS.Platform): readonly string[] {
  switch (platform) {
    case 'darwin':
      return ['open'];
    case 'win32':
      return ['rundll32', 'url.dll,FileProtocolHandler'];
    default:
      return ['xdg-open'];
  }
}

/** Without one, xdg-open might start a browser for terminals, on a terminal it does not have. */
function hasScreen(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (platform === 'darwin' || platform === 'win32') return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME || env.BROWSER);
}
