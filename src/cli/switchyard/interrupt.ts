/** Ctrl-C while a command waits: it may end in order, and say what runs on. */
export interface Interrupt {
  /** Aborted by the first signal; the second one ends the program at once. */
  readonly signal: AbortSignal;
  /** What to end with, as shells count signals; undefined as long as none has come. */
  exitCode(): number | undefined;
  /** Signals mean again what they usually do. */
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
