/** What a person sees and ends of all projects of a machine, from anywhere, also when their directories are gone. */
import { mkdirSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import { freePort } from '../helpers/yard-home.ts';
import { serviceCommand, visit } from '../helpers/yard-traffic.ts';
import { createYard, type TestYard } from '../helpers/yard.ts';

interface Machine extends TestYard {
  readonly elsewhere: string;
  readonly usual: number;
  askIn(cwd: string, ...args: string[]): Promise<any>;
  say(cwd: string, ...args: string[]): Promise<string>;
}

/** A folder with the projects shop and blog, and a directory that belongs to neither. */
async function machine(): Promise<Machine> {
  const proxyPort = await freePort();
  const usual = await freePort();
  const toml = (name: string, more = ''): string =>
    `[project]\nname = "${name}"\n[proxy]\nport = ${proxyPort}\n[ports]\nstart = 26000\nend = 26999\n` +
    `[services.web]\ncommand = "${serviceCommand('plain-http')}"\nready_timeout = 40\n${more}`;
  const yard = createYard({
    git: false,
    files: {
      'shop/switchyard.toml': toml('shop', `port = ${usual}\n`),
      'blog/switchyard.toml': toml('blog'),
    },
  });
  const elsewhere = yard.path('elsewhere');
  mkdirSync(elsewhere);
  const say = async (cwd: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await yard.run(args, { cwd });
    expect(code, `${args.join(' ')}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  return {
    ...yard,
    elsewhere,
    usual,
    say,
    askIn: async (cwd, ...args) => JSON.parse(await say(cwd, ...args, '--json')),
  };
}

test('status --all lists all projects with their services, and down --project stops them, even if the directory is gone', async () => {
  const yard = await machine();
  const [shop, blog] = [yard.path('shop'), yard.path('blog')];
  expect(await yard.say(yard.elsewhere, 'status', '--all')).toBe('no projects registered\n');
  await yard.say(shop, 'up', '--checkout');
  await yard.say(blog, 'up');
  const { pid, listener } = await yard.askIn(shop, 'where', 'web');
  rmSync(shop, { recursive: true });

  const { projects } = await yard.askIn(yard.elsewhere, 'status', '--all');
  expect(projects).toMatchObject([
    { name: 'blog', root: blog, status: 'ok', services: [{ service: 'web', status: 'running' }] },
    { name: 'shop', root: shop, status: 'missing', services: [{ service: 'web', status: 'running', pid }] },
  ]);
  expect(projects.map((project: any) => project.proxy.status)).toEqual(['running', 'running']);
  const text = await yard.say(yard.elsewhere, 'status', '--all');
  expect(text).toContain(`blog ${blog}\n`);
  expect(text).toContain(
    `shop ${shop}\nits directory is gone; \`switchyard down --project shop\` stops what runs\n`,
  );
  expect(text).toContain('http://web.current.blog.localhost:');

  // While something runs, nothing is forgotten.
  expect(await yard.say(yard.elsewhere, 'prune', '--all')).toContain(
    `kept shop (${shop}) because of running services: web of current; \`switchyard down --project shop\` stops them`,
  );
  const typo = await yard.run(['down', '--project', 'shp'], { cwd: blog });
  expect(typo.code).toBe(1);
  expect(typo.stderr).toContain('Project "shp" not found.');
  expect(typo.stderr).toContain('Did you mean "shop"?');
  expect((await visit({ port: yard.usual, host: 'localhost' }, '/')).json.pid).toBe(listener.pid);

  expect(await yard.askIn(yard.elsewhere, 'down', '--project', 'shop')).toMatchObject({
    ok: true,
    action: 'down',
    branch: null,
    messages: ['stopped web'],
  });
  expect([pid, listener.pid].filter((each) => alive(each))).toEqual([]);
  await expect(visit({ port: yard.usual, host: 'localhost' }, '/')).rejects.toThrow('ECONNREFUSED');
  expect((await yard.askIn(blog, 'status')).services).toMatchObject([{ status: 'running' }]);

  expect(await yard.say(yard.elsewhere, 'status', '--all')).toContain('`switchyard prune --all` forgets it');
  expect(await yard.askIn(yard.elsewhere, 'prune', '--all')).toMatchObject({
    pruned: [shop],
    messages: [`forgot the project in ${shop}, which is gone`],
  });
  expect((await yard.askIn(yard.elsewhere, 'status', '--all')).projects).toMatchObject([{ name: 'blog' }]);
  expect(await yard.say(yard.elsewhere, 'prune', '--all')).toBe('nothing to prune\n');
});

test('down --project takes a path, a service and a branch, and ignores names of other directories', async () => {
  const yard = await machine();
  const [shop, blog] = [yard.path('shop'), yard.path('blog')];
  await yard.say(shop, 'up');
  await yard.say(blog, 'up');
  // Of that path there is no project, though we stand in one.
  const none = await yard.run(['down', '--project', './nothing'], { cwd: blog });
  expect(none).toMatchObject({ code: 1, stdout: '' });
  expect(none.stderr).toContain('No recorded project contains');
  expect(await yard.say(yard.elsewhere, 'down', '--project', '../shop', 'web')).toBe('stopped web\n');
  expect(await yard.say(yard.elsewhere, 'down', '--project', blog, '--branch', 'current')).toBe(
    'stopped web\n',
  );
  expect(await yard.run(['status', '--all', '--branch', 'x'], { cwd: blog })).toMatchObject({ code: 2 });
});

test('a project with a broken file is listed too', async () => {
  const yard = await machine();
  await yard.say(yard.path('shop'), 'up');
  await yard.say(yard.path('blog'), 'up');
  yard.write('shop/switchyard.toml', '[services.web\n');
  const { projects } = await yard.askIn(yard.elsewhere, 'status', '--all');
  expect(projects).toMatchObject([
    { name: 'blog', status: 'ok' },
    { name: 'shop', status: 'unreadable', services: [{ status: 'running' }] },
  ]);
  expect(await yard.say(yard.elsewhere, 'down', '--project', 'shop')).toBe('stopped web\n');
});

test('a name that agents use can be removed', async () => {
  const yard = await machine();
  const shop = yard.path('shop');
  await yard.say(shop, 'mcp', 'config', '--name', 'my-shop');
  await yard.say(shop, 'up');
  expect((await yard.askIn(yard.elsewhere, 'status', '--all')).projects).toMatchObject([
    { aliases: ['my-shop'] },
  ]);
  const typo = await yard.run(['mcp', 'unregister', 'my-shp'], { cwd: yard.elsewhere });
  expect(typo.code).toBe(1);
  expect(typo.stderr).toContain('Did you mean "my-shop"?');
  expect(await yard.run(['mcp', 'unregister'], { cwd: shop })).toMatchObject({ code: 2 });
  await yard.say(shop, 'down');
  rmSync(shop, { recursive: true });
  expect(await yard.say(yard.elsewhere, 'prune', '--all')).toContain('switchyard mcp unregister my-shop');
  expect(await yard.say(yard.elsewhere, 'mcp', 'unregister', 'my-shop')).toBe(
    `removed 'my-shop', which pointed to ${shop}\n`,
  );
  expect(await yard.askIn(yard.elsewhere, 'mcp', 'projects')).toMatchObject({ projects: [] });
});
