import { Envelope } from './envelope.ts';
import type { Message } from './message.ts';

const LONGEST_ID = 1024;

/** A string or a number; its text is returned as it came, so that nothing is rounded. */
export function isUsableId(text: string): boolean {
  return begins(text.charCodeAt(0)) && text.length <= LONGEST_ID;
}

/** The same of the id of a message, without taking it out. */
export function hasUsableId(message: Message): boolean {
  const { id } = Envelope;
  return begins(message.lead(id)) && message.end(id) - message.start(id) <= LONGEST_ID;
}

/**
 * One spelling for each id and token, given as JSON text: the other side may write a string with other escapes, and a
 * number with other digits. Exact: nothing is rounded.
 */
export function idKey(text: string): string {
  if (text.startsWith('"')) return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text;
  const number = NUMBER.exec(text);
  return number === null ? text : numberKey(number);
}

/** A number that can be written in another way: not an integer in plain digits. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$(?<!^-?[1-9]\d*)/;

function numberKey([, sign = '', whole = '', fraction = '', exponent = '0']: RegExpExecArray): string {
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return '0';
  const zeros = Number(exponent) - fraction.length + all.length - digits.length;
  return zeros >= 0 && digits.length + zeros < LONGEST_ID
    ? sign + digits + '0'.repeat(zeros)
    : `${sign}${digits}e${zeros}`;
}

/** A quote, a minus or a digit. */
function begins(lead: number): boolean {
  return lead === 0x22 || lead === 0x2d || (lead >= 0x30 && lead <= 0x39);
}
