/** The building blocks of the schemas in this folder. */
import { z } from 'zod';

/** The longest time a Node timer can wait; a longer one would fire immediately. */
export const LONGEST_MS = 2_147_483_647;

export const yesOrNo = z.boolean({ error: 'must be true or false' });
export const nonEmptyText = (message = 'must be a non-empty string') =>
  z.string({ error: message }).regex(/\S/u, { error: message });
export const textList = z.array(z.string({ error: 'must be a string' }), {
  error: 'must be a list of strings',
});
export const wholeNumber = (what: string, least: number, most: number, advice = '') => {
  const error = `must be a whole number${what} from ${least} to ${most}${advice}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};
export const milliseconds = (advice = '') =>
  wholeNumber(' of milliseconds', 1, LONGEST_MS, `; 0 does not mean unlimited${advice}`);

export const serverName = z.string().regex(/^\P{Cc}{1,64}$/u, {
  error: 'a server name has 1 to 64 characters, none of them a control character',
});

/** A name that every host accepts for a tool. */
export const toolName = (message = 'must be 1 to 64 of the characters A-Z a-z 0-9 _ -') =>
  z.string({ error: 'must be a string' }).regex(/^[A-Za-z0-9_-]{1,64}$/u, { error: message });
