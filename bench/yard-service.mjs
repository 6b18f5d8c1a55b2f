/** An obedient service: answers on PORT, says when it does, and ends when it is asked to. */
import { createServer } from 'node:http';

createServer((_request, response) => response.end('here\n')).listen(
  Number(process.env.PORT),
  '127.0.0.1',
  () => console.log('listening'),
);
