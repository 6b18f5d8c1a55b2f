/** Progress events of a command. */
export type YardEvent =
  | { readonly kind: 'waiting' | 'proxy'; readonly text: string }
  | {
      readonly kind: 'starting' | 'ready' | 'running' | 'failed' | 'stopping' | 'stopped';
      readonly service: string;
      readonly branch: string;
      readonly text: string;
    };

export type OnEvent = (event: YardEvent) => void;
