import { connectHost } from '../../records/config/loopback.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import { canonicalPortTaken, proxyPortTaken } from '../../runtime/ports/port-taken.ts';
import { runningAmong } from '../../runtime/processes/observe.ts';
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
  switch (health) {
    case 'ours':
      return [];
    case 'another home':
    case 'stranger': {
      const { message, hint } = proxyPortTaken(port, health);
      return [{ level: 'error', what: message, next: hint }];
    }
    case 'nobody': {
      if (runningAmong(recordedServices(context)).length === 0) return [];
      const what = `Services are running, but the proxy on port ${port} is not, so their addresses do not work.`;
      return [{ level: 'warning', what, next: 'Run `switchyard up`, which starts it.' }];
    }
  }
}

async function examineCanonicalPorts(context: YardContext): Promise<readonly Finding[]> {
  const found = await verify(context, { services: [] });
  return found.flatMap(({ service, port, held_by, text }): readonly Finding[] => {
    if (held_by === 'stranger') {
      const { message, hint } = canonicalPortTaken(service, port, text);
      return [{ level: 'warning', what: message, next: hint }];
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
