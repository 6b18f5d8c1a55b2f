/** Makes a queue: what it is given runs one after the other, in order; a failure does not stop the rest. */
export function createSerial(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}
