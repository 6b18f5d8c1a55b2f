/** A well-behaved service: listens on PORT, says so, and ends when told to. */
import { createServer } from 'node:http';

createServer((_request, response) => response.end('here\n')).listen(
  Number(process.env.PORT),
  '127.0.0.1',
  () => console.log('listening'),
);
