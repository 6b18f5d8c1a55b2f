// A login in Express, which is installed as a dependency of the MCP SDK: absolute redirects and a cookie for the host.
import express from 'express';

const app = express();
app.get('/', (request, response) => {
  const isIn = request.headers.cookie?.includes('session=express') === true;
  response.send(
    isIn ? '<h1>welcome</h1>' : '<form method="post" action="/login"><button>Log in</button></form>',
  );
});
app.post('/login', (request, response) => {
  response.cookie('session', 'express', { domain: request.hostname, sameSite: 'strict', httpOnly: true });
  response.redirect(303, `${request.protocol}://${request.host}/`);
});
app.all('/method', (request, response) => {
  response.send(`${request.method} from ${request.headers.origin ?? 'nowhere'}`);
});
app.listen(Number(process.env.PORT), process.env.HOST);
