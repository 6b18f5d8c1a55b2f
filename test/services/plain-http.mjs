// A service as most are: HTTP on PORT and HOST, answering with who it is. Ends with SIGTERM, like any program.
import { createServer } from 'node:http';

const { PORT, HOST, SWITCHYARD_SERVICE: service, SWITCHYARD_BRANCH: branch } = process.env;
createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ service, branch, pid: process.pid }));
}).listen(Number(PORT), HOST, () => console.log(`listening on ${PORT}`));
