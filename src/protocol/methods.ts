/** Requests of a client that the core answers or routes. The rest of the table of methods comes with what they are about. */
const ROUTED = new Set(['tools/list', 'tools/call']);

export function isRoutedMethod(method: string): boolean {
  return ROUTED.has(method);
}
