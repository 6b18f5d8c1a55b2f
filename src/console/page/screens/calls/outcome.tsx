import type { ComponentChildren } from 'preact';
import type { CallInfo } from '../../../protocol.ts';
import { outcomeTitle, toneOf } from './call-text.ts';

export const Outcome = ({ call }: { call: CallInfo }): ComponentChildren => (
  <span class={`outcome outcome-${toneOf(call)}`}>
    <span class="dot" aria-hidden="true" />
    {outcomeTitle(call)}
  </span>
);
