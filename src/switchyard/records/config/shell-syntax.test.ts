import { describe, expect, it } from 'vitest';
import { shellSyntaxIn } from './shell-syntax.ts';

describe('a command that only a shell would understand', () => {
  it.each([
    ['cd api && npm run dev', 'cd api', 'cwd = "api" and command = "npm run dev"'],
    ['cd ./packages/web/; node .', 'cd packages/web', 'cwd = "packages/web" and command = "node ."'],
    [`cd 'my app' && npm start`, 'cd my app', 'cwd = "my app" and command = "npm start"'],
    ['cd api && PORT=3000 npm start', 'cd api', `cwd = "api" and command = "sh -c 'PORT=3000 npm start'"`],
    ['cd ../api && npm start', 'cd ../api', `command = "sh -c 'cd ../api && npm start'"`],
    ['cd /srv && ls', 'cd /srv', `command = "sh -c 'cd /srv && ls'"`],
    [
      'NODE_ENV=production A="b c" node server.js',
      'NODE_ENV=production',
      'env = { NODE_ENV = "production", A = "b c" } and command = "node server.js"',
    ],
    ['A=$B node x', 'A=$B', `command = "sh -c 'A=$B node x'"`],
    ['A=1 node x | tee log', 'A=1', `env = { A = "1" } and command = "sh -c 'node x | tee log'"`],
    ['npm run build && npm start', '&&', `command = "sh -c 'npm run build && npm start'"`],
    ['a || b', '||', `command = "sh -c 'a || b'"`],
    ['a; b', ';', `command = "sh -c 'a; b'"`],
    ['a | b', '|', `command = "sh -c 'a | b'"`],
    ['a & b', '&', `command = "sh -c 'a & b'"`],
    ['a > log 2>&1', '>', `command = "sh -c 'a > log 2>&1'"`],
    ['a $(b)', '$(', `command = "sh -c 'a $(b)'"`],
    ["echo 'it' && x", '&&', `command = "sh -c 'echo '\\\\''it'\\\\'' && x'"`],
    ['serve -p $PORT', '$PORT', 'command = "serve -p {port}"'],
    ['serve -p "${PORT}" -H $HOST', '${PORT}', `command = 'serve -p "{port}" -H {host}'`],
    ['serve $HOME/site', '$HOME', `command = "sh -c 'serve $HOME/site'"`],
    ['serve $PORTAL', '$PORTAL', `command = "sh -c 'serve $PORTAL'"`],
  ])('%j: %s is written as %s', (command, found, instead) => {
    expect(shellSyntaxIn(command)).toEqual({ found, instead });
    // The suggested alternative must itself be valid.
    const written = /command = (".*"|'.*')$/.exec(instead)![1]!;
    const text = written.startsWith('"') ? (JSON.parse(written) as string) : written.slice(1, -1);
    expect(shellSyntaxIn(text)).toBeUndefined();
  });

  it.each([
    'npm run dev -- --port {port}',
    'curl http://127.0.0.1/?a=1&b=2',
    `sh -c 'cd api && exec npm start'`,
    'sh -c "cd api && exec npm start -- -p $PORT"',
    'bash -lc "a; b"',
    `node -e "console.log(\`\${1}\`)"`,
    `grep 'a|b' "x && y" a\\;`,
    'grep a|b ^x$ file',
    'env NODE_ENV=test node server.js',
    'docker run -e A=1 image',
    "never 'closed && x",
    'cd',
    '',
  ])('is not %j', (command) => {
    expect(shellSyntaxIn(command)).toBeUndefined();
  });
});
