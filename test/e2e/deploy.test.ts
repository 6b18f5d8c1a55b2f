/** The files in deploy/: no container engine is needed to find what a typo would break there. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/index.ts';
import { atTestEnd } from '../helpers/cleanup.ts';
import { ask } from '../helpers/http-client.ts';
import { createProject, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const DEPLOY = join(ROOT, 'deploy');
const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');
const TOKEN = 'token-of-the-deployment-0123456789';

function yamlOf(file: string): any {
  const documents = parseAllDocuments(read(file), { strict: true, uniqueKeys: true });
  expect(
    documents.flatMap((each) => [...each.errors, ...each.warnings]),
    file,
  ).toEqual([]);
  expect(documents).toHaveLength(1);
  return documents[0]!.toJS();
}

const manifests = new Map(
  readdirSync(join(DEPLOY, 'kubernetes')).map((file) => [
    file.replace('.yaml', ''),
    yamlOf(`kubernetes/${file}`),
  ]),
);
const manifest = (name: string): any => manifests.get(name);
const pod = manifest('deployment').spec.template;
const [container] = pod.spec.containers;
const compose = yamlOf('compose.yaml');
const help = execFileSync(process.execPath, [join(ROOT, 'dist/index.js'), '--help'], { encoding: 'utf8' });
const KINDS: Record<string, string> = {
  ConfigMap: 'v1',
  Secret: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  NetworkPolicy: 'networking.k8s.io/v1',
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
};

/** The instructions of the Containerfile, continued lines joined. */
const instructions = read('Containerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [name = '', ...rest] = line.trim().split(/\s+/);
    return { name, rest: rest.join(' ') };
  });
const last = (name: string): string => instructions.findLast((each) => each.name === name)?.rest ?? '';

test('every manifest has what its kind needs, and one name', () => {
  for (const [file, { apiVersion, kind, metadata }] of manifests) {
    expect([file, apiVersion]).toEqual([file, KINDS[kind as string]]);
    if (kind !== 'Kustomization') expect(metadata.name).toBe('switchboard');
  }
  for (const file of manifest('kustomization').resources)
    expect(existsSync(join(DEPLOY, 'kubernetes', file)), file).toBe(true);
});

test('the pod runs without rights, with a read-only root, and all that it refers to exists', () => {
  expect(pod.spec).toMatchObject({
    automountServiceAccountToken: false,
    shareProcessNamespace: true,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(pod.spec.securityContext.runAsUser).toBeGreaterThan(0);
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(container.resources.limits.memory).toBeDefined();
  const volumes = new Map(pod.spec.volumes.map((volume: any) => [volume.name, volume]));
  for (const { name } of container.volumeMounts) expect(volumes.has(name), name).toBe(true);
  expect((volumes.get('config') as any).configMap.name).toBe(manifest('configmap').metadata.name);
  for (const { name, valueFrom } of container.env) {
    expect(help).toContain(name);
    expect(valueFrom.secretKeyRef.name).toBe(manifest('secret').metadata.name);
    expect(Object.keys(manifest('secret').stringData)).toContain(valueFrom.secretKeyRef.key);
  }
  expect(container.image).toMatch(/:\d/);
});

test('ports, selectors and targets fit together', () => {
  const ports = new Map<string, number>(
    container.ports.map(({ name, containerPort }: any) => [name, containerPort]),
  );
  const { labels } = pod.metadata;
  expect(manifest('deployment').spec.selector.matchLabels).toEqual(labels);
  expect(manifest('service').spec.selector).toEqual(labels);
  expect(manifest('poddisruptionbudget').spec.selector.matchLabels).toEqual(labels);
  expect(manifest('networkpolicy').spec.podSelector.matchLabels).toEqual(labels);
  for (const { targetPort } of manifest('service').spec.ports)
    expect(ports.has(targetPort), targetPort).toBe(true);
  for (const rule of manifest('networkpolicy').spec.ingress)
    for (const { port } of rule.ports) expect(ports.has(port), port).toBe(true);
  expect(manifest('horizontalpodautoscaler').spec.scaleTargetRef).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: manifest('deployment').metadata.name,
  });
  expect(container.args).toContain(`0.0.0.0:${ports.get('http')}`);
  expect(pod.metadata.annotations['prometheus.io/port']).toBe(String(ports.get('metrics')));
  expect(last('EXPOSE')).toBe([...ports.values()].join(' '));
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    expect(ports.has(container[probe].httpGet.port), probe).toBe(true);
});

test('the Compose file runs the same way', () => {
  const { switchboard, caddy, redis } = compose.services;
  for (const service of [switchboard, redis])
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  expect(switchboard).toMatchObject({ init: true, user: last('USER') });
  expect(existsSync(join(DEPLOY, switchboard.build.context, switchboard.build.dockerfile))).toBe(true);
  for (const name of Object.keys(switchboard.environment)) expect(help).toContain(name);
  for (const mount of [...switchboard.volumes, ...caddy.volumes] as string[]) {
    const [source = ''] = mount.split(':');
    if (source.startsWith('.')) expect(existsSync(join(DEPLOY, source)), source).toBe(true);
    else expect(Object.keys(compose.volumes)).toContain(source);
  }
  // An image in the OCI format has no health check of its own.
  expect(switchboard.healthcheck.test.join(' ')).toContain(':3006/healthz');
  expect(read('Caddyfile')).toContain('{$MCP_HOST}');
  expect(Object.keys(caddy.environment)).toEqual(['MCP_HOST']);
  for (const { image } of [caddy, redis]) expect(image).toMatch(/:\d/);
});

test('there is time enough to drain', async () => {
  const seconds = async (config: string): Promise<number> => {
    const project = createProject({ 'switchboard.config.json': config });
    const { settings, warnings } = await loadConfig({
      configPath: project.path('switchboard.config.json'),
      cwd: project.dir,
      env: {},
    });
    expect(warnings).toEqual([]);
    expect([settings.logFormat, settings.metrics]).toEqual(['json', { host: '0.0.0.0', port: 9464 }]);
    return settings.timeouts.drainMs / 1000;
  };
  const wait = Number(container.lifecycle.preStop.exec.command[1]);
  const inPod = await seconds(manifest('configmap').data['switchboard.config.json']);
  expect(wait + inPod + SERVERS_END_S).toBeLessThan(pod.spec.terminationGracePeriodSeconds);
  const onMachine = await seconds(read('switchboard.config.json'));
  expect(onMachine + SERVERS_END_S).toBeLessThan(
    parseInt(compose.services.switchboard.stop_grace_period, 10),
  );
});

/** How long servers have to end, in seconds. */
const SERVERS_END_S = 5;

test('the Containerfile is one that builds in stages, ends as a plain user, and names what exists', () => {
  const known = 'FROM WORKDIR COPY RUN ENV VOLUME USER EXPOSE STOPSIGNAL ENTRYPOINT CMD'.split(' ');
  expect(instructions.filter(({ name }) => !known.includes(name))).toEqual([]);
  const stages = instructions.filter(({ name }) => name === 'FROM');
  expect(stages).toHaveLength(2);
  for (const { rest } of stages) expect(rest).toMatch(/^\S+\/\S+:\d[\w.-]+( AS \w+)?$/);
  expect(last('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(last('STOPSIGNAL')).toBe('SIGTERM');
  expect(JSON.parse(last('ENTRYPOINT'))).toEqual(['switchboard']);
  const command = JSON.parse(last('CMD')) as string[];
  expect(command).toEqual(container.args);
  for (const flag of command.filter((each) => each.startsWith('--'))) expect(help).toContain(flag);
  expect(last('ENV')).toContain('SWITCHBOARD_STATE_DIR=/var/lib/switchboard/state');
  expect(last('VOLUME')).toContain(
    container.volumeMounts.find(({ name }: any) => name === 'state').mountPath,
  );
  const copied = instructions
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1));
  for (const file of copied) expect(existsSync(join(ROOT, file)), file).toBe(true);
});

test.skipIf(process.platform === 'win32')(
  'the same steps without a container: packed, installed, read-only, as a plain user, probed and drained',
  async () => {
    const project = createProject({
      'switchboard.config.json': manifest('configmap').data['switchboard.config.json'],
    });
    const npm = (...args: string[]): string =>
      execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [packed] = JSON.parse(
      npm('pack', '--json', '--ignore-scripts', '--pack-destination', project.dir),
    ) as [{ filename: string }];
    const prefix = project.path('prefix');
    npm(
      'install',
      '--global',
      '--offline',
      '--omit=optional',
      '--prefix',
      prefix,
      project.path(packed.filename),
    );
    // As a volume of a pod is: of root, and open to the group.
    mkdirSync(project.path('state'));
    chmodSync(project.path('state'), 0o2777);
    mkdirSync(project.path('tmp'));
    chmodSync(project.path('tmp'), 0o1777);
    const config = readFileSync(project.path('switchboard.config.json'), 'utf8');
    project.write('switchboard.config.json', config.replace('"host": "0.0.0.0"', '"port": 0'));
    execFileSync('chmod', ['-R', 'a-w', prefix, project.path('switchboard.config.json')]);
    execFileSync('chmod', ['a+rx', project.dir]);
    const isRoot = process.getuid?.() === 0;
    const args = container.args.map((arg: string) =>
      arg.startsWith('/etc/')
        ? project.path('switchboard.config.json')
        : arg.replace('0.0.0.0:3006', '127.0.0.1:0'),
    );
    const child = spawn(join(prefix, 'bin/switchboard'), [...args, '--json'], {
      cwd: project.dir,
      env: {
        PATH: process.env.PATH,
        HOME: project.path('tmp'),
        SWITCHBOARD_STATE_DIR: project.path('state/state'),
        SWITCHBOARD_HTTP_TOKEN: TOKEN,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text: Buffer) => (stdout += String(text)));
    child.stderr.on('data', (text: Buffer) => (stderr += String(text)));
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    atTestEnd(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const metrics = await until(() => /"url":"http:[^"]*:(\d+)\/metrics"/.exec(stderr)?.[1], {
      what: 'the metrics',
      deadline: 30_000,
      seen: () => stdout + stderr,
    });
    const url = await until(() => /"url": "([^"]+)"/.exec(stdout)?.[1], {
      what: 'the address',
      deadline: 30_000,
    });
    const port = Number(new URL(url).port);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path } = container[probe].httpGet;
      expect((await ask({ port, path, headers: { host: '10.0.0.7:3006' } })).status, path).toBe(200);
    }
    const { path } = { path: pod.metadata.annotations['prometheus.io/path'] as string };
    expect((await ask({ port: Number(metrics), path })).status).toBe(200);
    const headers = { authorization: `Bearer ${TOKEN}`, host: 'mcp.example.com' };
    expect((await ask({ port, path: '/status', headers })).status).toBe(200);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    for (const line of stderr.trimEnd().split('\n')) expect(() => void JSON.parse(line)).not.toThrow();
  },
  60_000,
);
