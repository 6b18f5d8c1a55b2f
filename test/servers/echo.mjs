/**
 * Nothing wrong with this one: the plain, well-behaved server.
 *
 *   node test/servers/echo.mjs [--tools=echo,slow_echo] [--name=echo]
 *
 * Tools: echo {text}, slow_echo {text, ms}, add {a, b}, fail {message}, reject {code, message}, canary {n},
 * big {bytes}, structured {bytes}, env {name}, pid, cwd, whoami, received.
 */
import { echoTools } from './lib/echo-tools.mjs';
import { serve } from './lib/server.mjs';

serve({ name: 'echo', tools: echoTools });
