import { Envelope } from './envelope.ts';
import type { Message } from './message.ts';

const LONGEST_ID = 1024;

/** Whether an id is a string or a number. Its text is returned as it arrived, so that nothing is rounded. */
export function isUsableId(text: string): boolean {
  return begins(text.charCodeAt(0)) && text.length <= LONGEST_ID;
}

/** The same for the id of a message, without extracting it. */
export function hasUsableId(message: Message): boolean {
  const { id } = Envelope;
  return begins(message.lead(id)) && message.end(id) - message.start(id) <= LONGEST_ID;
}

/**
 * The canonical text of an id or token, given as JSON text: the other side may write a string with other escapes, and a
 * number with other digits. Exact: nothing is rounded.
 */
export function idKey(text: string): string {
  if (text.startsWith('"')) return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text;
  const number = NUMBER.exec(text);
  return number === null ? text : numberKey(number);
}

/** Matches a number with more than one notation: anything except an integer in plain digits. */
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

/** Whether it starts with a quote, a minus or a digit. */
function begins(lead: number): boolean {
  return lead === 0x22 || lead === 0x2d || (lead >= 0x30 && lead <= 0x39);
}
