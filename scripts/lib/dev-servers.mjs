/**
 * Development servers as people use them: packages in exact versions, so that two runs compare the same thing, and the
 * smallest project with a page. `edited` is the file in which `one` becomes `two`; `login` is a path that sets a cookie
 * and redirects to the page, for servers that run the project's code. The redirect is absolute, made from the request's
 * own address, except in Next: there that address is localhost and its port, with or without a proxy, so an absolute
 * redirect always leaves the named address. For Next, its own `redirect('/')` is tested instead.
 */
export const DEV_SERVERS = [
  {
    name: 'Vite 8',
    packages: ['vite@8.3.8'],
    script: 'vite',
    files: {
      'index.html': '<!doctype html><h1></h1><script type="module" src="/main.js"></script>',
      'main.js': "document.querySelector('h1').textContent = 'one';\nimport.meta.hot.accept();\n",
    },
    edited: 'main.js',
  },
  {
    name: 'Next 16',
    packages: ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
    script: 'next dev',
    files: {
      'app/layout.js':
        'export default function Layout({ children }) {\n  return <html><body>{children}</body></html>;\n}\n',
      'app/page.js': "'use client';\nexport default function Page() {\n  return <h1>one</h1>;\n}\n",
      'app/login/route.js':
        "import { cookies } from 'next/headers';\nimport { redirect } from 'next/navigation';\n" +
        "export async function POST() {\n  (await cookies()).set('session', '1');\n  redirect('/');\n}\n",
    },
    edited: 'app/page.js',
    login: '/login',
  },
  {
    name: 'SvelteKit 2',
    packages: ['vite@7.3.8', '@sveltejs/kit@2.70.4', '@sveltejs/vite-plugin-svelte@6.2.4', 'svelte@5.57.3'],
    script: 'vite dev',
    files: {
      'svelte.config.js': 'export default {};\n',
      'vite.config.js':
        "import { sveltekit } from '@sveltejs/kit/vite';\nexport default { plugins: [sveltekit()] };\n",
      'src/app.html': '<!doctype html><head>%sveltekit.head%</head><body>%sveltekit.body%</body>',
      'src/routes/+page.svelte': '<h1>one</h1>\n',
      'src/routes/login/+server.js':
        "export function POST({ url, cookies }) {\n  cookies.set('session', '1', { path: '/', secure: false });\n" +
        "  return new Response(null, { status: 303, headers: { location: new URL('/', url).href } });\n}\n",
    },
    edited: 'src/routes/+page.svelte',
    login: '/login',
  },
  webpack('webpack-dev-server 5', 'webpack-cli@6.0.1', 'webpack-dev-server@5.2.7'),
  webpack('webpack-dev-server 3', 'webpack-cli@4.10.0', 'webpack-dev-server@3.11.3'),
  {
    name: 'Express 5',
    packages: ['express@5.3.0'],
    script: 'node server.js',
    files: {
      'server.js':
        "import express from 'express';\nconst app = express();\napp.get('/', (_, response) => response.send('<h1>one</h1>'));\n" +
        "app.post('/login', (request, response) => {\n  response.cookie('session', '1', { domain: request.hostname });\n" +
        '  response.redirect(303, `${request.protocol}://${request.host}/`);\n});\napp.listen(process.env.PORT, process.env.HOST);\n',
    },
    login: '/login',
  },
  {
    name: 'plain Node',
    packages: [],
    script: 'node server.js',
    files: {
      'server.js':
        "import { createServer } from 'node:http';\ncreateServer((request, response) => {\n  const { host } = request.headers;\n" +
        "  const domain = host.replace(/:\\d+$/, '');\n  if (request.method === 'POST') {\n" +
        "    response.writeHead(303, { location: `http://${host}/`, 'set-cookie': `session=1; Domain=${domain}` }).end();\n" +
        "  } else response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>one</h1>');\n" +
        '}).listen(process.env.PORT, process.env.HOST);\n',
    },
    login: '/login',
  },
];

function webpack(name, cli, server) {
  return {
    name,
    packages: ['webpack@5.112.2', cli, server, 'html-webpack-plugin@5.6.8'],
    script: 'webpack serve',
    type: 'commonjs',
    files: {
      'webpack.config.js':
        "const Html = require('html-webpack-plugin');\n" +
        "module.exports = { mode: 'development', devServer: { hot: true }, plugins: [new Html()] };\n",
      'src/index.js': "document.body.innerHTML = '<h1>one</h1>';\nmodule.hot.accept();\n",
    },
    edited: 'src/index.js',
  };
}
