import { connectHost } from '../../records/config/loopback.ts';
import { projectRecord, type YardContext } from '../../records/project/context.ts';
import { describeListeners } from '../../runtime/ports/listeners.ts';
import { observeServices } from '../../runtime/processes/observe.ts';
import { verify } from '../checkout/verify.ts';
import { checkProxyHealth } from '../proxy/health.ts';
import type { Finding } from './finding.ts';

/** Checks which processes listen on our ports. */
export async function examineListening(context: YardContext): Promise<readonly Finding[]> {
  const [proxy, canonical] = await Promise.all([examineProxy(context), examineCanonicalPorts(context)]);
  return [...proxy, ...canonical];
}

async function examineProxy(context: YardContext): Promise<readonly Finding[]> {
  const { host, port } = context.config.proxy;
  const health = await checkProxyHealth(connectHost(host), port, context.home);
  const next = 'End that process, or choose another [proxy].port in switchyard.toml.';
  switch (health) {
    case 'ours':
      return [];
    case 'another home':
      return [
        {
          level: 'error',
          what: `The proxy on port ${port} belongs to another state home: ${who(port)}.`,
          next,
        },
      ];
    case 'stranger':
      return [{ level: 'error', what: `The proxy port ${port} is already in use by ${who(port)}.`, next }];
    case 'nobody': {
      const records = Object.values(projectRecord(context)?.services ?? {});
      if (!observeServices(records).some(({ status }) => status === 'running')) return [];
      const what = `Services are running, but the proxy on port ${port} is not, so their addresses do not work.`;
      return [{ level: 'warning', what, next: 'Run `switchyard up`, which starts it.' }];
    }
  }
}

async function examineCanonicalPorts(context: YardContext): Promise<readonly Finding[]> {
  const found = await verify(context, { services: [] });
  return found.flatMap(({ service, port, held_by, text }): readonly Finding[] => {
    if (held_by === 'stranger') {
      const what = `Port ${port}, the canonical port of ${service}, is already in use: ${text}.`;
      return [
        {
          level: 'warning',
          what,
          next: `End that process before \`switchyard checkout\`; until then ${service} is reachable only at its address.`,
        },
      ];
    }
    if (held_by === 'service') {
      const what = `One of our services listens on port ${port} itself: ${text}.`;
      return [
        {
          level: 'warning',
          what,
          next: `Make the command of ${service} listen on {port}, so that branches can share the canonical port.`,
        },
      ];
    }
    return [];
  });
}

function who(port: number): string {
  return describeListeners(port) ?? 'an unknown process';
}
