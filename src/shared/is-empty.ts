/** Whether a value of a configuration is empty: null, an empty text, an empty list or object. */
export function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}
