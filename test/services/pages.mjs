/**
 * A page and its scripts, each of which says the branch that served it. Connections stay open for minutes, so that a
 * browser would use them again long after the branch has lost its port.
 */
import { createServer } from 'node:http';

const { SWITCHYARD_BRANCH: branch, PORT, HOST } = process.env;
const scripts = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

const server = createServer((request, response) => {
  response.setHeader('cache-control', 'no-store');
  if (request.url.endsWith('.js')) {
    response.setHeader('content-type', 'text/javascript');
    response.end(`window.seen.push(${JSON.stringify(branch)});`);
    return;
  }
  const tags = scripts.map((name) => `<script src="/${name}.js"></script>`);
  response.setHeader('content-type', 'text/html');
  response.end(
    `<!doctype html><title>${branch}</title><script>window.seen = [${JSON.stringify(branch)}]</script>${tags.join('')}`,
  );
});
server.keepAliveTimeout = 600_000;
server.listen(Number(PORT), HOST);
