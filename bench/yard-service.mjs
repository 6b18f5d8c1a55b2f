/** An obedient service: answers on PORT, and ends when it is asked to. */
import { createServer } from 'node:http';

createServer((_request, response) => response.end('here\n')).listen(Number(process.env.PORT), '127.0.0.1');
