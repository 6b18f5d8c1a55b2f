/** Why a command cannot be started, as part of a sentence, and what to do about it. */
export interface CommandProblem {
  readonly message: string;
  readonly hint: string;
}

export function commandNotFound(command: string): CommandProblem {
  return {
    message: `command not found: "${command}"`,
    hint: 'Install it, or set "command" to its full path; put arguments in "args".',
  };
}

export function commandNotExecutable(
  command: string,
  platform: NodeJS.Platform = process.platform,
): CommandProblem {
  if (platform === 'win32') {
    return {
      message: `"${command}" is not a program: Windows starts .exe, .com, .cmd, .bat and .ps1 files`,
      hint: 'Name the program that runs the file as "command", and the file in "args".',
    };
  }
  return {
    message: `permission denied: "${command}" is not executable`,
    hint: 'Make the file executable (chmod +x), or name the program that runs it as "command".',
  };
}

export function directoryUnusable(directory: string, why: string): CommandProblem {
  return { message: `its working directory "${directory}" ${why}`, hint: 'Create it or correct "cwd".' };
}
