import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { PortHolderInfo } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { act } from '../../state/act.ts';
import { tell } from '../../state/messages.ts';

/** Finds out which process listens on a port of this machine. */
export function PortLookup(): ComponentChildren {
  const [port, setPort] = useState('');
  const [found, setFound] = useState<readonly PortHolderInfo[] | null>(null);
  const valid = /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536;
  const find = async (): Promise<void> => {
    if (!valid) return;
    const response = await act('ports.holder', { port: Number(port) });
    if (!response.ok) {
      tell('The port could not be looked up', response.error);
      return;
    }
    setFound(response.result.holders);
  };
  return (
    <div class="port-holder">
      <span role="status">{found === null ? '' : holderText(found)}</span>
      <input
        class="input"
        inputMode="numeric"
        aria-label="Port"
        placeholder="Port, such as 3000"
        value={port}
        onInput={(event) => {
          setPort(event.currentTarget.value.trim());
          setFound(null);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void find();
        }}
      />
      <Button disabled={!valid} onClick={find}>
        Find process
      </Button>
    </div>
  );
}

const holderText = (found: readonly PortHolderInfo[]): string =>
  found.length === 0
    ? 'The port is free'
    : found
        .map(
          ({ pid, address, command }) =>
            `${command ?? 'A program'}${pid === null ? '' : ` (process ${pid})`} on ${address}`,
        )
        .join('; ');
