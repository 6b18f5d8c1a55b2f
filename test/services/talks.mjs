// A service that writes what it is told to: `/say?text` is one more line of its log, with the time in front.
import { createServer } from 'node:http';

const say = (time, text) => console.log(`${time.toISOString()} ${text}`);
const DAY = 86_400_000;

for (let line = 1; line <= 5; line++) say(new Date(Date.now() - DAY), `yesterday ${line}`);
console.log(`${new Date().toISOString()} \x1b[31mError: today it is red\x1b[0m`);
createServer((request, response) => {
  const text = decodeURIComponent(request.url.split('?')[1] ?? '');
  if (text !== '') say(new Date(), text);
  response.end(text);
}).listen(Number(process.env.PORT), process.env.HOST);
