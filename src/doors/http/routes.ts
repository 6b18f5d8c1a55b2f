export type RouteName = 'send' | 'listen' | 'leave' | 'open-events' | 'send-message' | 'health';

/** Every path with its methods. Anything else is not found. */
export const ROUTES: ReadonlyMap<string, ReadonlyMap<string, RouteName>> = new Map([
  [
    '/mcp',
    new Map<string, RouteName>([
      ['POST', 'send'],
      ['GET', 'listen'],
      ['DELETE', 'leave'],
    ]),
  ],
  ['/sse', new Map<string, RouteName>([['GET', 'open-events']])],
  ['/message', new Map<string, RouteName>([['POST', 'send-message']])],
  ['/healthz', new Map<string, RouteName>([['GET', 'health']])],
]);

/** The path of a request target, without what follows the question mark. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
