import { spawn } from 'node:child_process';
import { dropInheritance } from './drop-inheritance.ts';
import { withSafePath } from './search-path.ts';
import { systemProgram } from './system-program.ts';

/** How long the opener may take to report a failure, in milliseconds. */
const TIMEOUT_MS = 2000;

/**
 * Opens a page in the system's browser. Returns false if that is impossible, for example without a display. Opens only
 * http and https addresses, and uses no shell.
 */
export async function openBrowser(url: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const { href, protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  const [program, ...args] = openerOf(process.platform);
  if (program === undefined || !hasScreen(process.platform, env)) return false;
  return new Promise((resolve) => {
    dropInheritance();
    const child = spawn(program, [...args, href], {
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
      env: withSafePath(env),
    });
    // Some openers exit immediately; others run as long as the browser.
    const enough = setTimeout(() => resolve(true), TIMEOUT_MS);
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
      return [systemProgram('rundll32.exe'), 'url.dll,FileProtocolHandler'];
    default:
      return ['xdg-open'];
  }
}

/** Without a display, xdg-open might start a terminal browser although there is no terminal. */
function hasScreen(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (platform === 'darwin' || platform === 'win32') return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME || env.BROWSER);
}
