import { filesOf, type ProjectFiles } from '../../records/project/project-files.ts';
import type { DetectedService, DetectInput } from './detect.ts';
import { pythonOf, UNBUFFERED } from './python.ts';

/** Django, FastAPI or Flask. */
export function detectPython(input: DetectInput): DetectedService | undefined {
  const files = filesOf(input.root);
  const found = django(files) ?? fastApi(files) ?? flask(files);
  if (found === undefined) return undefined;
  const { command, link } = pythonOf(input);
  return {
    name: 'web',
    command: `${command} ${found.args}`,
    port: found.port,
    reason: found.reason,
    link,
    env: UNBUFFERED,
  };
}

interface Framework {
  /** The arguments of `python`. */
  readonly args: string;
  readonly port: number;
  readonly reason: string;
}

function django(files: ProjectFiles): Framework | undefined {
  if (!/django/i.test(files.text('manage.py'))) return undefined;
  return { args: 'manage.py runserver {host}:{port}', port: 8000, reason: 'manage.py belongs to Django.' };
}

function fastApi(files: ProjectFiles): Framework | undefined {
  if (!needs(files, 'fastapi')) return undefined;
  const app = findApp(files, 'FastAPI');
  if (app === undefined) return undefined;
  // uvicorn imports relative to this directory.
  const appDir = app.directory === 'src' ? ' --app-dir src' : '';
  const module = appDir === '' && app.directory !== '' ? `${app.directory}.${app.module}` : app.module;
  return {
    args: `-m uvicorn ${module}:${app.variable}${appDir} --reload --host {host} --port {port}`,
    port: 8000,
    reason: `${app.file} defines a FastAPI application.`,
  };
}

function flask(files: ProjectFiles): Framework | undefined {
  if (!needs(files, 'flask')) return undefined;
  const app = findApp(files, 'Flask');
  if (app === undefined) return undefined;
  return {
    args: `-m flask --app ${app.file.replace(/\.py$/, '')}:${app.variable} run --debug --host {host} --port {port}`,
    port: 5000,
    reason: `${app.file} defines a Flask application.`,
  };
}

/** Whether one of the dependency files names this package. */
function needs(files: ProjectFiles, name: string): boolean {
  const lists = ['pyproject.toml', 'Pipfile', 'setup.cfg', 'setup.py'];
  lists.push(...files.names('.').filter((each) => /^requirements.*\.(?:txt|in)$/.test(each)));
  const word = new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'i');
  return lists.some((list) => word.test(files.text(list)));
}

interface App {
  readonly file: string;
  /** Empty for the root. */
  readonly directory: string;
  readonly module: string;
  readonly variable: string;
}

/** Maximum number of files to read: the application is near the top, or cannot be guessed. */
const MOST_FILES = 200;

/** The module with `app = FastAPI(…)`: in the root or one directory below it. */
function findApp(files: ProjectFiles, kind: string): App | undefined {
  const made = new RegExp(`^([A-Za-z_]\\w*)[ \\t]*(?::[^=\\n]+)?=[ \\t]*(?:\\w+\\.)?${kind}\\(`, 'm');
  const directories = ['', ...files.names('.').filter(mayHoldIt)];
  let left = MOST_FILES;
  for (const directory of directories) {
    for (const name of files.names(directory || '.')) {
      const module = /^([A-Za-z_]\w*)\.py$/.exec(name)?.[1];
      if (module === undefined || left-- <= 0) continue;
      const file = directory === '' ? name : `${directory}/${name}`;
      const variable = made.exec(files.text(file))?.[1];
      if (variable !== undefined) return { file, directory, module, variable };
    }
  }
  return undefined;
}

function mayHoldIt(name: string): boolean {
  return (
    /^[A-Za-z_]\w*$/.test(name) &&
    !/^(?:venv|env|node_modules|tests?|docs?|examples?|__pycache__)$/.test(name)
  );
}
