// A login without a framework: absolute redirects, a cookie for the host, and no trust in requests from other origins.
import { createServer } from 'node:http';

createServer((request, response) => {
  const { host, origin, cookie } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`) {
    response.writeHead(403).end('cross-site request');
  } else if (request.url === '/method') {
    response.end(`${request.method} from ${origin ?? 'nowhere'}`);
  } else if (request.method === 'POST') {
    const domain = host.replace(/:\d+$/, '');
    const session = `session=node; Domain=${domain}; SameSite=Strict; HttpOnly`;
    response.writeHead(302, { location: `http://${host}/`, 'set-cookie': session }).end();
  } else {
    response.writeHead(200, { 'content-type': 'text/html' });
    const isIn = cookie?.includes('session=node') === true;
    response.end(isIn ? '<h1>welcome</h1>' : '<form method="post"><button>Log in</button></form>');
  }
}).listen(Number(process.env.PORT), process.env.HOST);
