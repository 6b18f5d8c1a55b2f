export const JSON_TYPE = 'application/json';
export const EVENTS_TYPE = 'text/event-stream';

/** Whether an Accept header allows all of these types; a missing header allows everything. */
export function accepts(header: string | undefined, ...types: readonly string[]): boolean {
  if (header === undefined || header === '' || header === USUAL) return true;
  const ranges = header
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
    .map(([type]) => type);
  return types.every((type) =>
    ranges.some(
      (range) => range === type || range === '*/*' || range === `${type.slice(0, type.indexOf('/'))}/*`,
    ),
  );
}

/** The value that nearly all clients send. */
const USUAL = `${JSON_TYPE}, ${EVENTS_TYPE}`;

/** Whether a Content-Type header is JSON, with any parameters. */
export function isJson(header: string | undefined): boolean {
  if (header === JSON_TYPE) return true;
  const [type = ''] = header?.split(';') ?? [];
  return type.trim().toLowerCase() === JSON_TYPE;
}
