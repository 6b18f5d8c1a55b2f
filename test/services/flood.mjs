// A service that prints 200 MB of numbered lines when it is asked for `/flood`, and answers when it is done.
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';

createServer(async (request, response) => {
  if (request.url === '/flood') {
    for (let n = 0; n < 2_000_000; n += 100) {
      const lines = Array.from({ length: 100 }, (_, at) => `line ${n + at} `.padEnd(99, '.'));
      console.log(lines.join('\n'));
      await turn();
    }
  }
  response.end();
}).listen(Number(process.env.PORT), process.env.HOST);
