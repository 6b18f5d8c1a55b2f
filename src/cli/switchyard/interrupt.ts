/** Handles Ctrl-C while a command waits, so that it can end cleanly and report what keeps running. */
export interface Interrupt {
  /** Aborted by the first signal; the second one ends the program immediately. */
  readonly signal: AbortSignal;
  /** The exit code for the signal, as in shells; undefined if none was received. */
  exitCode(): number | undefined;
  /** Restores the default handling of signals. */
  close(): void;
}

export function catchInterrupt(): Interrupt {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const handlers = Object.entries(EXIT_CODES).map(([name, code]) => {
    const handler = (): void => {
      if (exitCode !== undefined) process.exit(code);
      exitCode = code;
      controller.abort();
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    close: () => {
      for (const [name, handler] of handlers) process.off(name, handler);
    },
  };
}

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
